package parser

import (
	"fmt"
	"strings"
	"testing"
)

func benchParse(b *testing.B, text string) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInsertValues parses an INSERT of 1,000 rows of 4 columns.
func BenchmarkInsertValues(b *testing.B) {
	var sb strings.Builder
	sb.WriteString("INSERT INTO sensor (id, ts, device, temperature) VALUES ")
	for i := range 1000 {
		if i > 0 {
			sb.WriteString(", ")
		}
		fmt.Fprintf(&sb, "(%d, '2024-03-01 12:%02d:%02d', 'device-%d', %d.%d)", i, i/60%60, i%60, i%100, i%50-10, i%10)
	}
	benchParse(b, sb.String())
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkInsertOne parses an INSERT of one row.
func BenchmarkInsertOne(b *testing.B) {
	benchParse(b, "INSERT INTO sensor VALUES (17, '2024-03-01 12:00:00', 'device-3', 20.5)")
}

func BenchmarkSelect(b *testing.B) {
	benchParse(b, "SELECT device, avg(temperature) FROM sensor WHERE ts > '2024-03-01' AND device <> 'x' GROUP BY device ORDER BY 2 DESC LIMIT 10")
}

func BenchmarkSelectKey(b *testing.B) {
	benchParse(b, "SELECT * FROM sensor WHERE id = $1")
}
