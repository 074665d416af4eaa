package nexmark

import (
	"context"
	"io"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/batch"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// columnsOf gives a stream's columns for all fields of a kind.
func columnsOf(k kind) []catalog.Column {
	var out []catalog.Column
	for _, f := range [...][]field{personFields, auctionFields, bidFields}[k] {
		out = append(out, catalog.Column{Name: f.name, Type: types.Of([...]types.Kind{types.Int8, types.Varchar, types.Timestamp}[f.shape])})
	}
	return out
}

func config(k kind, more ...string) connector.Config {
	o := map[string]string{"nexmark.table.type": k.String(), "nexmark.min.event.gap.in.ns": "0"}
	for i := 0; i < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return connector.Config{Options: o, Columns: columnsOf(k), Fingerprint: true}
}

// readAll reads a bounded source to its end.
func readAll(t testing.TB, c connector.Config, max int) (rows *batch.Batch, chunks []*connector.Chunk) {
	t.Helper()
	s, err := Connector{}.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		ch, err := s.Read(context.Background(), max)
		if err == io.EOF {
			return rows, chunks
		}
		if err != nil {
			t.Fatal(err)
		}
		if ch == nil {
			continue
		}
		if rows == nil {
			rows = batch.New(ch.Rows.Types(), 0)
		}
		rows.AppendBatch(ch.Rows, nil)
		chunks = append(chunks, ch)
	}
}

// text gives a row as text.
func rowText(b *batch.Batch, i int) string {
	var out []string
	for _, c := range b.Cols {
		out = append(out, string(types.Append(nil, c.Type, c.Datum(i), types.DefaultEnv())))
	}
	return strings.Join(out, "|")
}

// TestModel compares 200,000 events with what the published generator says of them.
func TestModel(t *testing.T) {
	const events, base = 200_000, 1_436_918_400_000_000
	var all [3]*batch.Batch
	for k := range all {
		all[k], _ = readAll(t, config(kind(k), "nexmark.event.num", strconv.Itoa(events)), 1000)
	}
	people, auctions, bids := all[person], all[auction], all[bid]
	if people.N != events/50 || auctions.N != events/50*3 || bids.N != events/50*46 {
		t.Fatalf("%d people, %d auctions, %d bids", people.N, auctions.N, bids.N)
	}
	near := func(what string, got, all int, share float64) {
		if f := float64(got) / float64(all); f < share-0.02 || f > share+0.02 {
			t.Errorf("%s: %.3f, want about %.3f", what, f, share)
		}
	}
	for i := range people.N {
		if people.Cols[0].I64[i] != int64(1000+i) || people.Cols[6].I64[i] != base+int64(i)*50*100 {
			t.Fatalf("person %d: %s", i, rowText(people, i))
		}
	}
	size, hot := 0, 0
	for i := range auctions.N {
		id, begins, expires, seller, category := auctions.Cols[0].I64[i], auctions.Cols[5].I64[i], auctions.Cols[6].I64[i], auctions.Cols[7].I64[i], auctions.Cols[8].I64[i]
		event := int64(i)/3*50 + 1 + int64(i)%3
		// 100 auctions in flight are 1666 events, 166 ms; an auction is open for at most twice as long.
		open := (expires - begins) / 1000
		last := 1000 + event/50
		switch {
		case id != int64(1000+i), begins != base+event/10*1000, open < 1 || open > 334, category < 10 || category > 14,
			seller < 1000 || seller > last+10, auctions.Cols[4].I64[i] <= auctions.Cols[3].I64[i]:
			t.Fatalf("auction %d: %s", i, rowText(auctions, i))
		}
		if seller == 1000+(last-1000)/100*100 {
			hot++
		}
		for c, v := range auctions.Cols {
			if v.Off != nil {
				size += len(v.Bytes(i))
			} else if c < 9 {
				size += 8
			}
		}
	}
	near("hot sellers", hot, auctions.N, 0.75)
	if avg := size / auctions.N; avg < 480 || avg > 520 {
		t.Errorf("an auction has %d bytes", avg)
	}
	checkBids(t, bids, near)
}

func checkBids(t *testing.T, bids *batch.Batch, near func(string, int, int, float64)) {
	url := regexp.MustCompile(`^https://www\.nexmark\.com/[a-z]{5}/[a-z]{5}/[a-z]{5}/item\.htm\?query=1(&channel_id=\d+)?$`)
	hotAuctions, hotBidders, hotChannel, named, urls := 0, 0, 0, 0, map[string]string{}
	var cheap, dear int64 = 1 << 40, 0
	for i := range bids.N {
		event := int64(i)/46*50 + 4 + int64(i)%46
		lastAuction, lastPerson := event/50*3+2, event/50
		a, b, p := bids.Cols[0].I64[i]-1000, bids.Cols[1].I64[i]-1000, bids.Cols[2].I64[i]
		channel, u := string(bids.Cols[3].Bytes(i)), string(bids.Cols[4].Bytes(i))
		if a < max(lastAuction-100, 0)/100*100 || a > lastAuction+10 || b < 0 || b > lastPerson+10 || p < 100 || p > 100_000_000 || !url.MatchString(u) {
			t.Fatalf("bid %d: %s", i, rowText(bids, i))
		}
		cheap, dear = min(cheap, p), max(dear, p)
		if a == lastAuction/100*100 {
			hotAuctions++
		}
		if b == lastPerson/100*100+1 {
			hotBidders++
		}
		if !strings.HasPrefix(channel, "channel-") {
			hotChannel++
			if strings.Contains(u, "channel_id") {
				t.Fatalf("bid %d: %s", i, rowText(bids, i))
			}
		} else if strings.Contains(u, "channel_id") {
			named++
		}
		if old, ok := urls[channel]; ok && old != u {
			t.Fatalf("channel %s has two addresses: %s, %s", channel, old, u)
		}
		urls[channel] = u
	}
	near("hot auctions", hotAuctions, bids.N, 0.505)
	near("hot bidders", hotBidders, bids.N, 0.75)
	near("hot channels", hotChannel, bids.N, 0.5)
	near("named channels", named, bids.N-hotChannel, 0.9)
	if cheap > 120 || dear < 90_000_000 {
		t.Errorf("prices from %d to %d", cheap, dear)
	}
}

// TestReplay reads in chunks of two sizes, goes on from each recorded offset, and reads each extent again: the rows are the same.
func TestReplay(t *testing.T) {
	for k := person; k <= bid; k++ {
		c := config(k, "nexmark.event.num", "20011", "nexmark.out.of.order.group.size", "7", "nexmark.first.event.id", "13")
		whole, _ := readAll(t, c, 1<<20)
		rows, chunks := readAll(t, c, 333)
		if connector.Fingerprint(whole) != connector.Fingerprint(rows) {
			t.Errorf("%s: chunks of another size have other rows", k)
		}
		again, err := Connector{}.Reread(c)
		if err != nil {
			t.Fatal(err)
		}
		off := &connector.Offset{}
		for i, ch := range chunks {
			b, err := again.Reread(context.Background(), &ch.Extent)
			if err != nil || connector.Fingerprint(b) != ch.Extent.Hash || b.N != ch.Rows.N {
				t.Fatalf("%s: extent %d: %v", k, i, err)
			}
			if i%7 == 0 {
				from := c
				from.Offset = off.Clone()
				s, _ := Connector{}.Open(from)
				if next, err := s.Read(context.Background(), 333); err != nil || !reflect.DeepEqual(next.Extent, ch.Extent) {
					t.Fatalf("%s: from offset %d: %v, %v, want %v", k, i, next, err, ch.Extent)
				}
			}
			off.Add(&ch.Extent)
		}
		if p := off.Parts[part]; !p.Done || p.At != 20011 || off.Rows != int64(rows.N) || len(off.Parts) != 1 {
			t.Errorf("%s: the offset ends at %+v", k, off)
		}
		bad := chunks[1].Extent
		bad.Hash++
		if _, err := again.Reread(context.Background(), &bad); sqlerr.From(err).Code != sqlerr.DataCorrupted {
			t.Errorf("%s: a wrong fingerprint: %v", k, err)
		}
	}
}

// TestColumns: a column's values do not depend on which others there are, and a stream may gain one.
func TestColumns(t *testing.T) {
	c := config(bid, "nexmark.event.num", "5000")
	whole, _ := readAll(t, c, 1000)
	few := c
	few.Columns = []catalog.Column{c.Columns[6], c.Columns[2]}
	some, chunks := readAll(t, few, 1000)
	for i := range some.N {
		if string(some.Cols[0].Bytes(i)) != string(whole.Cols[6].Bytes(i)) || some.Cols[1].I64[i] != whole.Cols[2].I64[i] {
			t.Fatalf("row %d: %s, want %s", i, rowText(some, i), rowText(whole, i))
		}
	}
	few.Columns = append(few.Columns, c.Columns[0])
	r, err := Connector{}.Reread(few)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := r.Reread(context.Background(), &chunks[0].Extent); err != nil || len(b.Cols) != 2 {
		t.Errorf("an extent from before a column was added: %v", err)
	}
}

// TestRate: with a gap between events no more come than are due, and a source that has none says so.
func TestRate(t *testing.T) {
	s, err := Connector{}.Open(config(bid, "nexmark.min.event.gap.in.ns", "1000000"))
	if err != nil {
		t.Fatal(err)
	}
	start, got := time.Now(), int64(0)
	for got < 60 {
		ch, err := s.Read(context.Background(), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if ch != nil {
			got = ch.Extent.Spans[0].To
		}
		if due := time.Since(start).Milliseconds(); got > due {
			t.Fatalf("%d events after %d ms", got, due)
		}
	}
	s, err = Connector{}.Open(config(bid, "nexmark.min.event.gap.in.ns", "1000000000000"))
	if err != nil {
		t.Fatal(err)
	}
	if ch, err := s.Read(context.Background(), 1000); ch != nil || err != nil {
		t.Errorf("before the first event is due: %v, %v", ch, err)
	}
}

func TestOptions(t *testing.T) {
	for _, x := range []struct {
		opts string
		code sqlerr.Code
	}{
		{"", sqlerr.FeatureNotSupported},
		{"nexmark.table.type=Bids", sqlerr.InvalidParameterValue},
		{"nexmark.table.type=bid", ""},
		{"nexmark.table.type=bid nexmark.split.num=4 nexmark.event.num=100 nexmark.max.chunk.size=64 nexmark.min.event.gap.in.ns=100", ""},
		{"nexmark.table.type=bid nexmark.event.num=-2", sqlerr.InvalidParameterValue},
		{"nexmark.table.type=bid nexmark.event.num=many", sqlerr.InvalidParameterValue},
		{"nexmark.table.type=bid nexmark.bid.proportion=0", sqlerr.InvalidParameterValue},
		{"nexmark.table.type=bid nexmark.use.real.time=true", sqlerr.FeatureNotSupported},
		{"nexmark.table.type=bid nexmark.colour=red", sqlerr.InvalidParameterValue},
		{"nexmark.table.type=bid event.num=3", sqlerr.InvalidParameterValue},
	} {
		c := connector.Config{Options: map[string]string{}, Columns: columnsOf(bid)}
		for _, kv := range strings.Fields(x.opts) {
			k, v, _ := strings.Cut(kv, "=")
			c.Options[k] = v
		}
		err := Connector{}.Check(c)
		if code := codeOf(err); code != x.code {
			t.Errorf("%s: %v, want %q", x.opts, err, x.code)
		}
	}
	c := config(bid)
	c.Columns = []catalog.Column{{Name: "seller", Type: types.Of(types.Int8)}}
	if err := (Connector{}).Check(c); codeOf(err) != sqlerr.UndefinedColumn {
		t.Error(err)
	}
	c.Columns = []catalog.Column{{Name: "price", Type: types.Of(types.Int4)}}
	if err := (Connector{}).Check(c); codeOf(err) != sqlerr.DatatypeMismatch {
		t.Error(err)
	}
	if (Connector{}).Bounded(config(bid).Options) || !(Connector{}).Bounded(config(bid, "nexmark.event.num", "5").Options) {
		t.Error("a source is bounded by nexmark.event.num")
	}
}

func codeOf(err error) sqlerr.Code {
	if err == nil {
		return ""
	}
	return sqlerr.From(err).Code
}

// BenchmarkBids measures what making a bid of seven columns costs, and how often it allocates.
func BenchmarkBids(b *testing.B) {
	s, err := Connector{}.Open(config(bid))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		ch, err := s.Read(context.Background(), 1<<16)
		if err != nil {
			b.Fatal(err)
		}
		n += ch.Rows.N
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
}
