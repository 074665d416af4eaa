package custom

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"github.com/tidemarkdb/tidemark/sql/types"
)

// randomField makes a field of a random type, nested up to depth.
func randomField(r *rand.Rand, name string, depth int) string {
	scalars := []string{"int", "bigint", "text", "double precision", "numeric(10,2)", "boolean", "bytea", "timestamp", "int[]", "varchar(5)", "jsonb"}
	if n := r.Intn(6); depth > 0 && n < 3 {
		switch n {
		case 0:
			s := "struct<"
			for i := 0; i <= r.Intn(3); i++ {
				if i > 0 {
					s += ", "
				}
				s += fmt.Sprintf("f%d: %s", i, randomField(r, "", depth-1))
			}
			return name + s + ">"
		case 1:
			return name + "map<" + []string{"text", "int", "struct<a: int, b: text>"}[r.Intn(3)] + ", " + randomField(r, "", depth-1) + ">"
		}
		return name + "array<" + randomField(r, "", depth-1) + ">"
	}
	return name + scalars[r.Intn(len(scalars))]
}

// randomDatum makes a value of a field.
func randomDatum(r *rand.Rand, f Field) types.Datum {
	if r.Intn(6) == 0 {
		return types.NullDatum
	}
	if n := f.Nest; n != nil {
		if n.Shape == StructShape {
			vals := make([]types.Datum, len(n.Fields.Fields))
			for i, g := range n.Fields.Fields {
				vals[i] = randomDatum(r, g)
			}
			return n.join(vals)
		}
		var out [][]types.Datum
		for i := range r.Intn(4) {
			e := []types.Datum{randomDatum(r, n.value())}
			if n.Shape == MapShape {
				k := types.IntDatum(int64(i))
				if n.key().Nest != nil {
					k = n.key().Nest.join([]types.Datum{k, types.StringDatum("x")})
				} else if n.key().Type.Kind == types.Text {
					k = types.StringDatum(fmt.Sprint("k", i))
				}
				e = append([]types.Datum{k}, e...)
			}
			out = append(out, e)
		}
		return n.gather(out)
	}
	texts := map[types.Kind]string{types.Int4: "-7", types.Int8: "123456789012345", types.Text: "O'Brien \"x\"", types.Float8: "0.1", types.Numeric: "12.30",
		types.Bool: "t", types.Bytea: `\x00ff`, types.Timestamp: "2024-02-29 12:34:56.789", types.Varchar: "abc", types.JSONB: `{"a": [1, null]}`}
	if f.Type.Kind == types.Array {
		e, err := types.Parse(f.Type.ElemType(), texts[f.Type.Elem], types.DefaultEnv())
		if err != nil {
			panic(err)
		}
		return types.Datum{B: types.AppendArray(nil, f.Type.ElemType(), []types.Datum{e, types.NullDatum, e})}
	}
	text := texts[f.Type.Kind]
	d, err := types.Parse(f.Type, text, types.DefaultEnv())
	if err != nil {
		panic(err)
	}
	return d
}

// TestNestedRoundTrip: what a script reads and writes back is the same state, a schema's text is read as the same schema, and another
// version of the schema with the same fields in another order reads the same values.
func TestNestedRoundTrip(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Log("seed", seed)
	r := rand.New(rand.NewSource(seed))
	for range 300 {
		text := randomField(r, "a ", 3) + ", " + randomField(r, "b ", 3)
		s, err := ParseSchema(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		again, err := ParseSchema(s.String())
		if err != nil || !again.equal(s) || again.String() != s.String() {
			t.Fatalf("%s is shown as %s: %v", text, s, err)
		}
		vals := []types.Datum{randomDatum(r, s.Fields[0]), randomDatum(r, s.Fields[1])}
		row := appendDatums(nil, s, vals)
		var v starlark.Value = rowOf(NewRow(s, vals))
		if r.Intn(2) == 0 {
			v = v.(*rowValue).vals
		}
		back, err := fieldsOf(s, v, "the row")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := appendDatums(nil, s, back); string(got) != string(row) {
			t.Fatalf("%s: %v became %v", text, s.shown(vals), s.shown(back))
		}
		turned := NewSchema([]Field{s.Fields[1], s.Fields[0]})
		c, why := newConverter("", s, turned)
		if c == nil {
			t.Fatal(why)
		}
		got := c.read(make([]types.Datum, 2), row)
		if b := appendDatums(nil, s, []types.Datum{got[1], got[0]}); string(b) != string(row) {
			t.Fatalf("%s: reordered, %v became %v", text, s.shown(vals), turned.shown(got))
		}
	}
}

// TestSchemaSpellings reads types as Spark and PostgreSQL spell them.
func TestSchemaSpellings(t *testing.T) {
	for text, want := range map[string]string{
		"a STRUCT<x: INT, `y z`: STRING>":               `a struct<x: integer, "y z": text>`,
		"a ROW(x int, y numeric(10, 2)), b long":        "a struct<x: integer, y: numeric(10,2)>, b bigint",
		"a struct<x int>[]":                             "a array<struct<x: integer>>",
		"a ARRAY<STRUCT<x: ARRAY<INT>>>":                "a array<struct<x: integer[]>>",
		"a ARRAY<ARRAY<INT>>, b int[][]":                "a array<integer[]>, b integer[]",
		"a MAP<STRING,MAP<INT,DOUBLE>>":                 "a map<text, map<integer, double precision>>",
		"a: timestamp (3) with time zone null, b int[]": "a timestamp(3) with time zone, b integer[]",
		"struct struct<map: map<int, array<text>>>":     "struct struct<map: map<integer, text[]>>",
	} {
		s, err := ParseSchema(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if s.String() != want {
			t.Errorf("%s: got %s, want %s", text, s, want)
		}
	}
	for _, text := range []string{"", "a", "a int,", "a struct<>", "a map<int>", "a struct<x int", "a int>", "a array<int", "a int(", "a int[", "a int not", "a struct<x int)"} {
		if s, err := ParseSchema(text); err == nil {
			t.Errorf("%q is read as %s", text, s)
		}
	}
}
