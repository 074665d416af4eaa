package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// Late rows and dead letters are kept up to an age and a size, a view; what is above goes when a checkpoint is made, so that a restart
// finds what there was. The counters go on, and views that read letters keep what they were given.

// The settings of the caps, in force for views that are created while they are set, and their defaults.
const (
	lateAgeSetting   = "late_rows_max_age"
	lateBytesSetting = "late_rows_max_bytes"
	defaultLateAge   = "7d"
	defaultLateBytes = "64MB"
)

// letterCap bounds what is kept of a view's late rows, and of its dead letters.
type letterCap struct {
	age   int64 // microseconds; 0: no bound
	bytes int64 // 0: no bound
}

// letterCapOf reads the caps that were in force when a relation was created.
func letterCapOf(rel *catalog.Relation) letterCap {
	set := viewSettings(rel)
	var c letterCap
	age, _ := set.get(lateAgeSetting)
	if d, err := parseDuration(age); err == nil {
		c.age = d.Microseconds()
	}
	size, _ := set.get(lateBytesSetting)
	c.bytes, _ = parseBytes(size)
	return c
}

var byteUnits = []struct {
	suffix string
	shift  uint
}{{"kB", 10}, {"KB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}, {"B", 0}}

// parseBytes reads a size; a bare number is bytes.
func parseBytes(v string) (int64, error) {
	s, shift := strings.TrimSpace(v), uint(0)
	for _, u := range byteUnits {
		if strings.HasSuffix(s, u.suffix) {
			s, shift = strings.TrimSpace(strings.TrimSuffix(s, u.suffix)), u.shift
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > 1<<62>>shift {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "invalid value: \"%s\"", v).WithHint("Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\".")
	}
	return n << shift, nil
}

func checkBytes(v string) (string, error) {
	_, err := parseBytes(v)
	return v, err
}

// letterMark is how far the counters were at a checkpoint.
type letterMark struct {
	TS    int64
	Epoch uint64
	Late  int64 // the view's total
}

// maxLetterMarks bounds the marks; when there are more, every second one goes, and ages are told less finely.
const maxLetterMarks = 128

// letterBook is what the caps are kept by.
type letterBook struct {
	Marks     []letterMark `json:",omitempty"`
	LateBytes int64        `json:",omitempty"` // of the late rows that are kept, about
	DeadBytes int64        `json:",omitempty"`
	DeadAged  uint64       `json:",omitempty"` // no letter of an epoch before it is kept
}

// trimLetters brings the view's late rows and dead letters within their caps, and says whether any went. It runs between two
// epochs, before they are frozen.
func (v *view) trimLetters(epoch uint64, ts int64) (trimmed bool, err error) {
	k := &v.sink.book
	old := k.pass(ts-v.cap.age, v.cap.age > 0)
	if n := len(k.Marks); v.sink.lateTotal+v.sink.deadTotal > 0 && (n == 0 || k.Marks[n-1].Epoch != epoch) {
		k.Marks = append(k.Marks, letterMark{ts, epoch, v.sink.lateTotal})
	}
	late, err := v.trimLate(old)
	if err != nil {
		return false, err
	}
	dead, err := v.trimDead(old, epoch)
	return late || dead, err
}

// pass gives the newest mark at or before a time, and forgets those before it.
func (k *letterBook) pass(ts int64, bounded bool) letterMark {
	var old letterMark
	for bounded && len(k.Marks) > 0 && k.Marks[0].TS <= ts {
		old, k.Marks = k.Marks[0], k.Marks[1:]
	}
	if len(k.Marks) > maxLetterMarks {
		thin := k.Marks[:0:0]
		for i := 0; i < len(k.Marks); i += 2 {
			thin = append(thin, k.Marks[i])
		}
		k.Marks = thin
	}
	return old
}

func (v *view) trimLate(old letterMark) (trimmed bool, err error) {
	c := v.late.(*chunkContents).c
	rows := c.Snapshot().Rows()
	keep := rows
	if old.Epoch > 0 {
		keep = min(keep, v.sink.lateTotal-old.Late)
	}
	k := &v.sink.book
	if v.cap.bytes > 0 && k.LateBytes > v.cap.bytes {
		keep = min(keep, int64(float64(rows)*float64(v.cap.bytes)/float64(k.LateBytes)))
	}
	if keep >= rows {
		return false, nil
	}
	if err := c.TrimRows(keep); err != nil {
		return false, err
	}
	left := c.Snapshot().Rows()
	k.LateBytes = int64(float64(k.LateBytes) * float64(left) / float64(rows))
	return left < rows, nil
}

// trimDead drops the dead letters of the oldest epochs. Letters are kept by cause, so all of them are looked at, which is why more is
// dropped than must be: to three quarters of the cap.
func (v *view) trimDead(old letterMark, epoch uint64) (trimmed bool, err error) {
	k := &v.sink.book
	big := v.cap.bytes > 0 && k.DeadBytes > v.cap.bytes
	if !big && (old.Epoch == 0 || old.Epoch < k.DeadAged) {
		return false, nil
	}
	if old.Epoch > 0 {
		k.DeadAged = old.Epoch + 1
	}
	cut, ctx := int64(k.DeadAged), context.Background()
	if big {
		if cut, err = v.deadCut(cut, int64(epoch)); err != nil {
			return false, err
		}
	}
	gone := batch.New(columnTypes(deadColumns), 0)
	kept := int64(0)
	err = v.dead.(*rowContents).scan(ctx, func(b *batch.Batch) error {
		for i := 0; i < b.N; i++ {
			if b.Cols[3].I64[i] < cut {
				gone.AppendRow(b, i, -b.Weight(i))
			} else {
				kept += letterBytes(b, i)
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	k.DeadBytes = kept
	if gone.N == 0 {
		return false, nil
	}
	return true, v.dead.add(gone)
}

// deadCut finds the epoch before which dead letters go for the rest to fit. The newest epoch's stay.
func (v *view) deadCut(from, newest int64) (int64, error) {
	size := map[int64]int64{}
	total := int64(0)
	err := v.dead.(*rowContents).scan(context.Background(), func(b *batch.Batch) error {
		for i := 0; i < b.N; i++ {
			n := letterBytes(b, i)
			size[b.Cols[3].I64[i]] += n
			total += n
		}
		return nil
	})
	epochs := make([]int64, 0, len(size))
	for e := range size {
		epochs = append(epochs, e)
	}
	slices.Sort(epochs)
	cut := from
	for _, e := range epochs {
		if total <= v.cap.bytes/4*3 || e >= newest {
			break
		}
		cut, total = max(cut, e+1), total-size[e]
	}
	return cut, err
}

// letterBytes is about what a dead letter takes.
func letterBytes(b *batch.Batch, i int) int64 {
	return int64(64 + len(b.Cols[1].Datum(i).B) + len(b.Cols[2].Datum(i).B))
}
