package custom

import (
	"time"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// Row is one row under a schema: of the input, of a key, of a state variable. The zero Row has no fields.
type Row struct {
	Schema *Schema
	vals   []types.Datum
	b      *batch.Batch // where vals is nil
	i      int
}

// NewRow makes a row of values that belong to the schema's types.
func NewRow(s *Schema, vals []types.Datum) Row { return Row{Schema: s, vals: vals} }

// Len is the number of fields.
func (r Row) Len() int {
	if r.Schema == nil {
		return 0
	}
	return len(r.Schema.Fields)
}

// Datum gives field c. It may alias memory that is valid during the call only.
func (r Row) Datum(c int) types.Datum {
	if r.vals != nil {
		return r.vals[c]
	}
	return r.b.Cols[c].Datum(r.i)
}

// Datums gives all fields, copied.
func (r Row) Datums() []types.Datum {
	out := make([]types.Datum, r.Len())
	for c := range out {
		out[c] = r.Datum(c).Clone()
	}
	return out
}

// field finds a field by name. A name that is not there is a fault of the program, as a wrong index is.
func (r Row) field(name string) types.Datum {
	c := -1
	if r.Schema != nil {
		c = r.Schema.Index(name)
	}
	if c < 0 {
		panic("no field \"" + name + "\" in the row")
	}
	return r.Datum(c)
}

// IsNull says whether a field is NULL. This and the other getters by name panic where there is no such field.
func (r Row) IsNull(name string) bool { return r.field(name).Null }

// Int gives a field of an integer, boolean, date or time type as it is stored; 0 for NULL.
func (r Row) Int(name string) int64 { return r.field(name).I }

// Bool gives a boolean; false for NULL.
func (r Row) Bool(name string) bool { return r.field(name).I != 0 }

// Float gives a real or double precision field; 0 for NULL.
func (r Row) Float(name string) float64 { return r.field(name).F }

// Text gives a text-like field; "" for NULL.
func (r Row) Text(name string) string { return string(r.field(name).B) }

// Millis gives a timestamp in milliseconds since 1970 UTC, rounded down; 0 for NULL.
func (r Row) Millis(name string) int64 { return floorDiv(r.field(name).I, 1000) }

// Time gives a timestamp; the zero time for NULL.
func (r Row) Time(name string) time.Time {
	d := r.field(name)
	if d.Null {
		return time.Time{}
	}
	return time.UnixMicro(d.I).UTC()
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Rows are the rows of one key in an epoch, in order of arrival. They are valid during the call.
type Rows struct {
	schema *Schema
	b      *batch.Batch
	at     []int32
}

// Len is the number of rows.
func (r Rows) Len() int { return len(r.at) }

// At gives row i.
func (r Rows) At(i int) Row { return Row{Schema: r.schema, b: r.b, i: int(r.at[i])} }

// Schema describes the rows.
func (r Rows) Schema() *Schema { return r.schema }
