package engine

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tidemarkdb/tidemark/exec/connector"
)

// TestOffsets: offsets are written as encoding/json writes them.
func TestOffsets(t *testing.T) {
	all := []sourceOffset{{7, 1 << 40, nil, false}, {8, -1, nil, true}, {9, 3, &connector.Extent{Spans: []connector.Span{{Part: "a\"b", To: 5}}, Rows: 3}, true}, {10, 0, nil, false}}
	for lo := range all {
		for hi := lo + 1; hi <= len(all); hi++ {
			want, err := json.Marshal(all[lo:hi])
			if err != nil {
				t.Fatal(err)
			}
			got, err := appendOffsets(nil, all[lo:hi])
			if err != nil || string(got) != string(want) {
				t.Errorf("%s (%v), want %s", got, err, want)
			}
			if back, err := decodeOffsets(got); err != nil || !reflect.DeepEqual(back, all[lo:hi]) {
				t.Errorf("%s is read back as %v (%v)", got, back, err)
			}
		}
	}
	if got, err := appendOffsets(nil, nil); err != nil || len(got) != 0 {
		t.Errorf("no offsets are %q (%v)", got, err)
	}
}
