package nexmark

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

const prefix = "nexmark."

// options are those of CREATE STREAM, read.
type options struct {
	model
	kind    kind
	kindSet bool
	events  int64 // how many there are, of all kinds; -1: no end
	gapNs   int64 // the least time between two events, of all kinds; 0: as fast as they are taken
	chunk   int64 // the most rows of a chunk
	splits  int64 // has no effect
}

// maxNumber bounds what is drawn from and what is multiplied with.
const maxNumber = 1 << 31

// number is one option that is a number.
type number struct {
	name     string
	at       func(*options) *int64
	def      int64
	min, max int64
}

// numbers are the options that are numbers, with RisingWave's names and defaults.
var numbers = []number{
	{"split.num", func(o *options) *int64 { return &o.splits }, 1, 1, maxNumber},
	{"event.num", func(o *options) *int64 { return &o.events }, -1, -1, 1 << 48},
	{"min.event.gap.in.ns", func(o *options) *int64 { return &o.gapNs }, 100_000, 0, 1 << 40},
	{"max.chunk.size", func(o *options) *int64 { return &o.chunk }, 1 << 16, 1, maxNumber},
	{"base.time", func(o *options) *int64 { return &o.baseTime }, 1_436_918_400_000, 0, 1 << 43}, // 2015-07-15
	{"next.event.rate", func(o *options) *int64 { return &o.rate }, 10_000, 1, maxNumber},
	{"out.of.order.group.size", func(o *options) *int64 { return &o.outOfOrder }, 1, 1, maxNumber},
	{"active.people", func(o *options) *int64 { return &o.activePeople }, 1000, 1, maxNumber},
	{"in.flight.auctions", func(o *options) *int64 { return &o.inFlight }, 100, 1, maxNumber},
	{"person.id.lead", func(o *options) *int64 { return &o.personLead }, 10, 0, maxNumber},
	{"auction.id.lead", func(o *options) *int64 { return &o.auctionLead }, 10, 1, maxNumber},
	{"hot.seller.ratio", func(o *options) *int64 { return &o.hotSeller }, 4, 1, maxNumber},
	{"hot.auction.ratio", func(o *options) *int64 { return &o.hotAuction }, 2, 1, maxNumber},
	{"hot.bidder.ratio", func(o *options) *int64 { return &o.hotBidder }, 4, 1, maxNumber},
	{"hot.channel.ratio", func(o *options) *int64 { return &o.hotChannel }, 2, 1, maxNumber},
	{"hot.seller.ratio.2", func(o *options) *int64 { return &o.sellerGroup }, 100, 1, maxNumber},
	{"hot.auction.ratio.2", func(o *options) *int64 { return &o.auctionGroup }, 100, 1, maxNumber},
	{"hot.bidder.ratio.2", func(o *options) *int64 { return &o.bidderGroup }, 100, 1, maxNumber},
	{"person.proportion", func(o *options) *int64 { return &o.people }, 1, 1, 1 << 20},
	{"auction.proportion", func(o *options) *int64 { return &o.auctions }, 3, 1, 1 << 20},
	{"bid.proportion", func(o *options) *int64 { return &o.bids }, 46, 1, 1 << 20},
	{"first.person.id", func(o *options) *int64 { return &o.firstPerson }, 1000, 0, 1 << 48},
	{"first.auction.id", func(o *options) *int64 { return &o.firstAuction }, 1000, 0, 1 << 48},
	{"first.category.id", func(o *options) *int64 { return &o.firstCategory }, 10, 0, 1 << 48},
	{"num.categories", func(o *options) *int64 { return &o.categories }, 5, 1, maxNumber},
	{"first.event.id", func(o *options) *int64 { return &o.firstEvent }, 0, 0, 1 << 48},
	{"avg.person.byte.size", func(o *options) *int64 { return &o.personSize }, 200, 0, poolSize / 2},
	{"avg.auction.byte.size", func(o *options) *int64 { return &o.auctionSize }, 500, 0, poolSize / 2},
	{"avg.bid.byte.size", func(o *options) *int64 { return &o.bidSize }, 100, 0, poolSize / 2},
}

// foreign are options of RisingWave that there are not: the events would not be the same each time, or come at a changing rate.
var foreign = []string{"use.real.time", "first.event.rate", "first.event.number", "rate.shape", "rate.period", "rate.unit", "sine.approx.steps",
	"threads", "us.states", "us.cities", "first.names", "last.names", "events.per.sec"}

// parseOptions reads the options.
func parseOptions(in map[string]string) (*options, error) {
	o := &options{}
	for _, n := range numbers {
		*n.at(o) = n.def
	}
	keys := make([]string, 0, len(in))
	for k := range in {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := o.set(k, in[k]); err != nil {
			return nil, err
		}
	}
	if !o.kindSet {
		return nil, sqlerr.Unsupported("a nexmark source without option \"nexmark.table.type\" is not supported").
			WithHint("It is Person, Auction or Bid; RisingWave's mixed source has columns of composite types.")
	}
	return o, nil
}

// set reads one option.
func (o *options) set(key, value string) error {
	name, ok := strings.CutPrefix(key, prefix)
	if ok && name == "table.type" {
		for k := person; k <= bid; k++ {
			if strings.EqualFold(value, k.String()) {
				o.kind, o.kindSet = k, true
				return nil
			}
		}
		return invalid(key, value, "Available values: Person, Auction, Bid.")
	}
	if ok && slices.Contains(foreign, name) {
		return sqlerr.Unsupported("option \"%s\" is not supported", key)
	}
	i := slices.IndexFunc(numbers, func(n number) bool { return n.name == name })
	if !ok || i < 0 {
		known := []string{prefix + "table.type"}
		for _, n := range numbers {
			known = append(known, prefix+n.name)
		}
		return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", key).
			WithHint("The options of nexmark are connector, retention, max_watermark_step, %s.", strings.Join(known, ", "))
	}
	n := numbers[i]
	v, err := strconv.ParseInt(value, 10, 64)
	if err != nil || v < n.min || v > n.max {
		return invalid(key, value, "It is a whole number from "+strconv.FormatInt(n.min, 10)+" to "+strconv.FormatInt(n.max, 10)+".")
	}
	*n.at(o) = v
	return nil
}

func invalid(name, value, hint string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for option \"%s\": \"%s\"", name, value).WithHint("%s", hint)
}

// shape is what types a column may have.
type shape uint8

const (
	integer    shape = iota // bigint
	characters              // text, varchar without length
	timestamp               // timestamp, timestamptz
)

// field is one value of an event.
type field struct {
	name  string
	shape shape
	fill  fill
}

// fits says whether a column of type t can hold the field.
func (f *field) fits(t types.Type) bool {
	if t.Mod != 0 {
		return false
	}
	switch f.shape {
	case integer:
		return t.Kind == types.Int8
	case characters:
		return t.Kind == types.Text || t.Kind == types.Varchar
	}
	return t.Kind == types.Timestamp || t.Kind == types.TimestampTZ
}

func (f *field) typeName() string {
	return [...]string{"bigint", "varchar", "timestamp"}[f.shape]
}

// fieldsOf finds the fields that columns stand for, by name.
func fieldsOf(k kind, cols []catalog.Column) ([]*field, error) {
	all := [...][]field{personFields, auctionFields, bidFields}[k]
	out := make([]*field, len(cols))
	for i := range cols {
		at := slices.IndexFunc(all, func(f field) bool { return f.name == cols[i].Name })
		if at < 0 {
			var have []string
			for _, f := range all {
				have = append(have, f.name)
			}
			return nil, sqlerr.New(sqlerr.UndefinedColumn, "a nexmark %s has no field \"%s\"", k, cols[i].Name).WithHint("It has %s.", strings.Join(have, ", "))
		}
		if out[i] = &all[at]; !all[at].fits(cols[i].Type) {
			return nil, sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" of a nexmark %s must be of type %s", cols[i].Name, k, all[at].typeName())
		}
	}
	if len(out) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "a nexmark source needs columns")
	}
	return out, nil
}

// Connector makes Nexmark sources.
type Connector struct{}

// Check implements connector.Connector.
func (Connector) Check(c connector.Config) error {
	o, err := parseOptions(c.Options)
	if err == nil {
		_, err = fieldsOf(o.kind, c.Columns)
	}
	return err
}

// Bounded implements connector.Connector.
func (Connector) Bounded(opts map[string]string) bool {
	o, err := parseOptions(opts)
	return err == nil && o.events >= 0
}

// Open implements connector.Connector.
func (Connector) Open(c connector.Config) (connector.Source, error) { return open(c) }

// Reread implements connector.Connector.
func (Connector) Reread(c connector.Config) (connector.Rereader, error) { return open(c) }
