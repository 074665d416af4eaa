package kernel

import (
	"fmt"
	"testing"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/types"
)

func benchBatch() (*batch.Batch, []types.Type) {
	typs := []types.Type{types.Of(types.Int8), types.Of(types.Int8), types.Of(types.Float8), types.Of(types.Text), types.Of(types.Timestamp), types.Of(types.Numeric)}
	b := batch.New(typs, batch.Target)
	x := uint64(1)
	for i := 0; i < batch.Target; i++ {
		x = x*6364136223846793005 + 1442695040888963407
		b.Cols[0].AppendInt(int64(x>>33) % 1000)
		b.Cols[1].AppendInt(int64(x >> 40))
		b.Cols[2].AppendFloat(float64(x>>40) / 1000)
		b.Cols[3].AppendString(fmt.Sprintf("client-%05d", x>>50))
		b.Cols[4].AppendInt(int64(i) * 1_000_000)
		b.Cols[5].AppendDatum(types.NumScaled(int64(x>>44), 2).Datum())
	}
	b.N = batch.Target
	return b, typs
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch.Target, "ns/row")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkFilter(b *testing.B) {
	data, typs := benchBatch()
	for _, src := range []string{"a < 100", "a = 7", "a > 100 and a < 200", "a < b", "f > 1000", "s = 'client-00017'", "s like 'client-01%'", "n > 100",
		"a in (1, 2, 3)", "t >= timestamp '1970-01-01 00:10' and t < timestamp '1970-01-01 00:20'", "a < 100 or b < 100"} {
		b.Run(src, func(b *testing.B) {
			k := compileText(b, src, "a b f s t n", typs...)
			var out []int32
			for b.Loop() {
				out, _ = k.Filter(plainEnv, data, nil, out)
			}
			perRow(b)
		})
	}
}

func BenchmarkProject(b *testing.B) {
	data, typs := benchBatch()
	for _, src := range []string{"a + b", "a * 2 + b", "f * 1.5", "a % 10", "t + interval '1 hour'", "date_trunc('hour', t)", "upper(s)", "s || '-x'", "n * 2",
		"case when a > 500 then a else b end", "coalesce(a, b)", "a::float8", "a::text"} {
		b.Run(src, func(b *testing.B) {
			k := compileText(b, src, "a b f s t n", typs...)
			for b.Loop() {
				k.Eval(plainEnv, data, nil)
			}
			perRow(b)
		})
	}
}
