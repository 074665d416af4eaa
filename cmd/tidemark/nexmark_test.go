package main

import (
	"context"
	"fmt"
	"io"
	"math/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/exec/connector/nexmark"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// TestNexmarkKilled: a server that is killed again and again while it reads has each bid once, whether its log keeps the rows or not.
func TestNexmarkKilled(t *testing.T) {
	const events = 600_000
	options := map[string]string{"nexmark.table.type": "Bid", "nexmark.event.num": fmt.Sprint(events), "nexmark.min.event.gap.in.ns": "0", "nexmark.max.chunk.size": "7000"}
	src, err := nexmark.Connector{}.Open(connector.Config{Options: options, Columns: []catalog.Column{{Name: "price", Type: types.Of(types.Int8)}}})
	if err != nil {
		t.Fatal(err)
	}
	n, sum := 0, int64(0)
	for {
		ch, err := src.Read(context.Background(), 1<<16)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range ch.Rows.Cols[0].I64 {
			n, sum = n+1, sum+p
		}
	}
	want := fmt.Sprintf("%d,%d", n, sum)
	for _, retention := range []string{"all", "0"} {
		t.Run(retention, func(t *testing.T) {
			seed := time.Now().UnixNano()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewSource(seed))
			dir := filepath.Join(t.TempDir(), "data")
			p := startProcess(t, dir, "--checkpoint-interval", "100ms")
			with := ""
			for k, v := range options {
				with += fmt.Sprintf(", %s = '%s'", k, v)
			}
			execSQL(t, connect(t, p.url), fmt.Sprintf(`CREATE STREAM bid (price bigint, url varchar, date_time timestamp) WITH (connector = 'nexmark', retention = '%s'%s);
				CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n, sum(price)::bigint AS s FROM bid`, retention, with))
			for range 3 {
				time.Sleep(time.Duration(rnd.Intn(150)) * time.Millisecond)
				p.kill()
				p = startProcess(t, dir, "--checkpoint-interval", "100ms")
			}
			c := connect(t, p.url)
			execSQL(t, c, "WAIT FOR bid")
			expectRows(t, c, "SELECT * FROM m", want)
			expectRows(t, c, "SELECT count(*), sum(price)::bigint FROM bid", want)
			expectRows(t, c, "SELECT position, rows, state FROM tidemark.sources", fmt.Sprintf("events:%d,%d,finished", events, n))
		})
	}
}
