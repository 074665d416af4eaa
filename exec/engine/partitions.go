package engine

import (
	"math/bits"
	"runtime"
	"strconv"
	"time"

	"github.com/tidemarkdb/tidemark/exec"
	"github.com/tidemarkdb/tidemark/exec/partition"
	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Options of a view about its state partitions. The number of slots is fixed when its state is made; the number of partitions, which are
// ranges of slots, may change from one epoch to the next.
const (
	partitionsOption   = "state_partitions"    // the number that was asked for; absent: the database's
	partitionsByOption = "state_partitions_by" // "setting" if a setting of the session asked for it, absent: the view's own option
	slotsOption        = "state_slots"
)

// sparkPartitions is Spark's setting for the views created next.
const sparkPartitions = "spark.sql.streaming.stateStore.partitions"

// maxPartitions bounds the state partitions of a view.
const maxPartitions = partition.MaxSlots

// slotsFor gives the number of slots for a number of partitions. One partition has one slot, since cutting rows up costs time, the more the more slots there are.
// Whoever asked for a number may want to change it: there are slots for twice as many.
func slotsFor(partitions int, asked bool) int {
	if partitions == 1 {
		return 1
	}
	n := 1 << bits.Len(uint(partitions-1))
	if asked {
		n *= 2
	}
	return min(n, maxPartitions)
}

// partitionCount reads a number of partitions.
func partitionCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"%s\": \"%s\"", partitionsOption, text).
			WithDetail("[STATE_REPARTITION_INVALID_PARAMETER.IS_EMPTY] It must be a number.")
	}
	if n < 1 || n > maxPartitions {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "value %d out of bounds for option \"%s\"", n, partitionsOption).
			WithDetail("Valid values are between \"1\" and \"%d\".", maxPartitions)
	}
	return n, nil
}

// defaultPartitions is the number of a view that does not say: the server's, or that of its cores.
func (e *Engine) defaultPartitions() int {
	if e.opts.StatePartitions > 0 {
		return min(e.opts.StatePartitions, maxPartitions)
	}
	return min(runtime.GOMAXPROCS(0), maxPartitions)
}

// partitionsOf gives the number of state partitions of a view and where it comes from.
func (e *Engine) partitionsOf(rel *catalog.Relation) (n int, from string) {
	text := rel.Options[partitionsOption]
	if text == "" {
		return e.defaultPartitions(), "default"
	}
	n, _ = strconv.Atoi(text) // it was checked
	if rel.Options[partitionsByOption] != "" {
		return n, "setting"
	}
	return n, "view"
}

// slotsOf gives the number of slots that a view's state is cut into.
func slotsOf(rel *catalog.Relation) int {
	n, err := strconv.Atoi(rel.Options[slotsOption])
	if err != nil {
		return 1
	}
	return n
}

// cutSlots fixes the slots of a view that is about to be made.
func (e *Engine) cutSlots(rel *catalog.Relation) *catalog.Relation {
	n, from := e.partitionsOf(rel)
	return withOption(rel, slotsOption, strconv.Itoa(slotsFor(n, from != "default")))
}

// slots is how the view's operators are cut, and how they ask for the number of partitions.
func (v *view) slots() exec.Slots {
	return exec.Slots{N: v.nslots, Team: v.team}
}

// repartition makes a new number of partitions the one of the epochs from now on. The slots stay where they are.
func (v *view) repartition(n int) {
	start := time.Now()
	if int(v.partitions.Swap(int32(n))) == n {
		return
	}
	v.progress.repartitioned(time.Since(start))
}

// partitionOf gives the partition of a slot.
func (v *view) partitionOf(slot int) int {
	return partition.Of(slot, int(v.partitions.Load()), v.nslots)
}

// operatorPartitions is the number of partitions of the state of an operator with a number of slots: one, where its keys do not divide it.
func (v *view) operatorPartitions(slots int) int { return min(int(v.partitions.Load()), slots) }

// partitionOptions takes state_partitions from a CREATE, or from Spark's setting.
func (s *sess) partitionOptions(rel *catalog.Relation, own string) error {
	if own == "" {
		if v, _ := s.set.get(sparkPartitions); v != "" {
			own = v
			rel.Options[partitionsByOption] = "setting"
		}
	}
	if own == "" {
		return nil
	}
	if _, err := partitionCount(own); err != nil {
		return err
	}
	rel.Options[partitionsOption] = own
	return nil
}

// alterOptions gives the change of ALTER ... SET (option = value, ...) and RESET (option, ...).
func (s *sess) alterOptions(rel *catalog.Relation, x *ast.Alter) (func(*catalog.Catalog, *catalog.Relation) error, error) {
	set, kind := map[string]string{}, s.kindOf(rel)
	for _, o := range x.Options {
		value := o.Value
		if x.Action == "reset" {
			value = ""
		}
		switch {
		case kind == catalog.MatView && o.Name == partitionsOption:
			if x.Action == "set" {
				n, err := partitionCount(value)
				if err != nil {
					return nil, sqlerr.From(err).At(int(o.At))
				}
				s.noteSlots(rel, n)
			}
			set[partitionsByOption] = ""
		case kind == catalog.Stream && o.Name == stepOption:
			if rel.Options[retentionOption] == "0" {
				return nil, sqlerr.Unsupported("option \"%s\" is not supported with retention = '0'", stepOption).At(int(o.At))
			}
			if x.Action == "set" {
				if _, err := watermarkStep(withOption(rel, stepOption, value)); err != nil {
					return nil, sqlerr.From(err).At(int(o.At))
				}
			}
		case kind == catalog.MatView || kind == catalog.Stream:
			if err := s.e.knownOption(rel, o, x.Action); err != nil {
				return nil, sqlerr.From(err).At(int(o.At))
			}
			return nil, sqlerr.Unsupported("option \"%s\" of a %s cannot be changed", o.Name, kind).At(int(o.At))
		default:
			return nil, sqlerr.Unsupported("ALTER %s ... %s is not supported", kind, x.Action).At(int(x.At))
		}
		set[o.Name] = value
	}
	return func(_ *catalog.Catalog, r *catalog.Relation) error {
		for name, value := range set {
			*r = *withOption(r, name, value)
		}
		return nil
	}, nil
}

// noteSlots tells of partitions that have nothing to do.
func (s *sess) noteSlots(rel *catalog.Relation, n int) {
	slots := slotsOf(rel)
	if n <= slots || rel.Options[slotsOption] == "" { // or it is not made yet
		return
	}
	s.notice(sqlerr.Notice("the state of \"%s\" was cut into %d slots when it was made, so %d of %d partitions have work", rel.Name, slots, slots, n).
		WithHint("ALTER MATERIALIZED VIEW %s REBUILD cuts it anew.", rel.Name))
}
