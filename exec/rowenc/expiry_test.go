package rowenc

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/dataflow"
	"github.com/tidemarkdb/tidemark/exec/internal/optest"
	"github.com/tidemarkdb/tidemark/state/table"
)

// Each key comes off the list once, with its time, when that has come: lists of every size, times near each other and far apart, beyond restarts.
func TestExpiry(t *testing.T) {
	for seed := uint64(0); seed < 60; seed++ {
		r := rand.New(rand.NewPCG(seed, 11))
		ints := r.IntN(2) == 0
		span := []int64{1, 100, 1 << 20, 1 << 40}[r.IntN(4)]
		disk := optest.Disk{}
		space := table.Open(disk)
		list := NewExpiry(space, 0, "list")
		var left []string // time and key
		until := int64(-50)
		for epoch := uint64(1); epoch < 12; epoch++ {
			for _, again := range []bool{false, true}[:1+r.IntN(2)] {
				for range []int{0, 3, 400, 3000}[r.IntN(4)] {
					at, key := until+1+r.Int64N(span), r.Int64N(1000)-500
					if r.IntN(50) == 0 {
						at = Never
					} else {
						left = append(left, fmt.Sprintf("%d %d", at, key))
					}
					if ints {
						list.AddInt(at, key)
					} else {
						list.AddBytes(at, fmt.Appendf(nil, "%d", key))
					}
				}
				list.Write(&dataflow.Epoch{N: epoch, Again: again})
			}
			until += r.Int64N(span/2 + 2)
			var got, want, rest []string
			if ints {
				list.ExpireInts(until, func(at, key int64) { got = append(got, fmt.Sprintf("%d %d", at, key)) })
			} else {
				list.ExpireBytes(until, func(at int64, key []byte) { got = append(got, fmt.Sprintf("%d %s", at, key)) })
			}
			for _, x := range left {
				var at int64
				fmt.Sscan(x, &at)
				if at <= until {
					want = append(want, x)
				} else {
					rest = append(rest, x)
				}
			}
			left = rest
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, epoch %d: %d keys expired, want %d:\n%s\nwant\n%s", seed, epoch, len(got), len(want), strings.Join(got, ", "), strings.Join(want, ", "))
			}
			if r.IntN(3) == 0 {
				if err := disk.Write(space.Freeze()); err != nil {
					t.Fatal(err)
				}
				space = table.Open(disk)
				list = NewExpiry(space, 0, "list")
			}
		}
	}
}
