package engine

import (
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/custom"
	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// The SQLSTATEs of Spark's errors of the state data source (reference 9.1).
const (
	codeInvalidOption sqlerr.Code = "42616"
	codeConflict      sqlerr.Code = "42613"
	codeNoBatch       sqlerr.Code = "KD006"
)

func invalidOption(name, format string, args ...any) *sqlerr.Error {
	return badOption(".WITH_MESSAGE", name, format, args...)
}

func badOption(kind, name, format string, args ...any) *sqlerr.Error {
	return sqlerr.New(codeInvalidOption, "[STDS_INVALID_OPTION_VALUE"+kind+"] Invalid value for source option '"+name+"': "+format, args...)
}

func conflict(a, b string) *sqlerr.Error {
	return sqlerr.New(codeConflict, "[STDS_CONFLICT_OPTIONS] The options '%s' and '%s' cannot be specified together.", a, b)
}

func optionMissing(name string) *sqlerr.Error {
	return sqlerr.New(sqlerr.SyntaxError, "[STDS_REQUIRED_OPTION_UNSPECIFIED] '%s' must be specified.", name)
}

// stateOptions are the options of a call by their names in snake_case.
type stateOptions map[string]string

// number reads an option that is a number and not negative; false where it is not given.
func (o stateOptions) number(option, spark string) (uint64, bool, error) {
	text, ok := o[option]
	if !ok {
		return 0, false, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0, false, invalidOption(spark, "it must be a number, not %s.", text)
	}
	if n < 0 {
		return 0, false, badOption(".IS_NEGATIVE", spark, "it cannot be negative.")
	}
	return uint64(n), true, nil
}

// flag reads an option that is true or false.
func (o stateOptions) flag(option, spark string, otherwise bool) (bool, error) {
	text, ok := o[option]
	if !ok {
		return otherwise, nil
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "t", "on", "yes", "1":
		return true, nil
	case "false", "f", "off", "no", "0":
		return false, nil
	}
	return false, invalidOption(spark, "it must be true or false, not %s.", text)
}

// batches reads which epochs a call is about. last is the newest epoch, partitions the number of state partitions.
func (s *stateSpec) batches(o stateOptions, first, last uint64, partitions int) error {
	batch, hasBatch, err := o.number("batch_id", "batchId")
	if err != nil {
		return err
	}
	snap, hasSnap, err := o.number("snapshot_start_batch_id", "snapshotStartBatchId")
	if err != nil {
		return err
	}
	part, hasPart, err := o.number("snapshot_partition_id", "snapshotPartitionId")
	if err != nil {
		return err
	}
	from, hasFrom, err := o.number("change_start_batch_id", "changeStartBatchId")
	if err != nil {
		return err
	}
	to, hasTo, err := o.number("change_end_batch_id", "changeEndBatchId")
	if err != nil {
		return err
	}
	if s.Feed, err = o.flag("read_change_feed", "readChangeFeed", false); err != nil {
		return err
	}
	_, hasSide := o["join_side"]
	switch {
	case hasSnap && !hasPart:
		return optionMissing("snapshotPartitionId")
	case hasPart && !hasSnap:
		return optionMissing("snapshotStartBatchId")
	case !s.Feed && hasFrom:
		return invalidOption("changeStartBatchId", "it is given without readChangeFeed.")
	case !s.Feed && hasTo:
		return invalidOption("changeEndBatchId", "it is given without readChangeFeed.")
	case s.Feed && hasBatch:
		return conflict("readChangeFeed", "batchId")
	case s.Feed && hasSide:
		return conflict("readChangeFeed", "joinSide")
	case s.Feed && hasSnap:
		return conflict("readChangeFeed", "snapshotStartBatchId")
	case s.Feed && !hasFrom:
		return optionMissing("changeStartBatchId")
	case hasTo && to < from:
		return invalidOption("changeEndBatchId", "it must not be less than changeStartBatchId, which is %d.", from)
	case hasSnap && hasBatch && snap > batch || hasSnap && snap > last:
		return invalidOption("snapshotStartBatchId", "it must not be greater than batchId.")
	case hasPart && part >= uint64(partitions):
		return invalidOption("snapshotPartitionId", "there is no partition %d: state has %d.", part, partitions)
	}
	if hasPart {
		s.Only = int(part) + 1
	}
	if s.Feed {
		if !hasTo {
			to = max(last, from)
		}
		s.From, s.To = from, to
		if err := knownBatch(from, first, last); err != nil {
			return err
		}
		return knownBatch(to, first, last)
	}
	if !hasBatch {
		return nil
	}
	s.Batch = &batch
	return knownBatch(batch, first, last)
}

func knownBatch(batch, first, last uint64) error {
	if batch >= first && batch <= last {
		return nil
	}
	return sqlerr.New(codeNoBatch, "[STDS_OFFSET_LOG_UNAVAILABLE] The offset log for batch %d does not exist: the view has the epochs from %d to %d.", batch, first, last)
}

// columns reads the other options of statestore and gives its columns (reference 9.1).
func (s *stateSpec) columns(v *view, o stateOptions) ([]stateColumn, error) {
	at, err := s.operator(v, o)
	if err != nil {
		return nil, err
	}
	_, ops := v.graph.Stateful()
	store, hasStore := o["store_name"]
	side, hasSide := o["join_side"]
	name, hasVar := o["state_var_name"]
	if s.Timers, err = o.flag("read_registered_timers", "readRegisteredTimers", false); err != nil {
		return nil, err
	}
	flat, err := o.flag("flatten_collection_types", "flattenCollectionTypes", true)
	if err != nil {
		return nil, err
	}
	s.Nested = !flat
	if side = strings.ToLower(side); hasSide && side != "left" && side != "right" {
		return nil, invalidOption("joinSide", "it must be left or right, not %s.", side)
	}
	op, isCustom := dataflow.Instances(ops[at])[0].(*custom.Operator)
	switch {
	case hasStore && store == "":
		return nil, badOption(".IS_EMPTY", "storeName", "it cannot be empty.")
	case hasStore && hasSide:
		return nil, conflict("joinSide", "storeName")
	case hasVar && s.Timers:
		return nil, conflict("stateVarName", "readRegisteredTimers")
	case !isCustom && hasVar:
		return nil, invalidOption("stateVarName", "operator %d is not a transform_with_state.", s.Operator)
	case !isCustom && s.Timers:
		return nil, invalidOption("readRegisteredTimers", "operator %d is not a transform_with_state.", s.Operator)
	case isCustom && !hasVar && !s.Timers:
		return nil, optionMissing("stateVarName").
			WithHint("Give state_var_name => '...' or read_registered_timers => true; state_metadata lists the variables.")
	case isCustom && s.Feed && s.Nested:
		return nil, sqlerr.Unsupported("flatten_collection_types => false of a change feed is not supported: elements and entries change, not whole lists and maps")
	case isCustom:
		s.Var = name
		return s.customColumns(op)
	}
	if hasSide {
		store = side + "-"
	} else if !hasStore {
		store = "default"
	}
	return s.storeColumns(v, store, hasStore)
}

// operator reads operator_id and gives the operator's place among those with state.
func (s *stateSpec) operator(v *view, o stateOptions) (int, error) {
	n, _, err := o.number("operator_id", "operatorId")
	if err != nil {
		return 0, err
	}
	ids, _ := v.graph.Stateful()
	for at, id := range ids {
		if uint64(id) == n {
			s.Operator = id
			return at, nil
		}
	}
	return 0, invalidOption("operatorId", "view \"%s\" has no stateful operator %d; state_metadata lists them.", v.rel().Name, n)
}
