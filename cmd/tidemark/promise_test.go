package main

import (
	"context"
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// TestReadYourWrites is promise 1: a row that was inserted is in a view three views deep when the INSERT has returned, on another
// connection, whatever else goes on.
func TestReadYourWrites(t *testing.T) {
	rounds := 10_000
	if testing.Short() {
		rounds = 500
	}
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	execSQL(t, c, `CREATE STREAM s (id bigint, k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 minute');
	CREATE MATERIALIZED VIEW v1 AS SELECT id, k, ts FROM s WHERE id >= 0;
	CREATE MATERIALIZED VIEW v2 AS SELECT id, count(*) AS n FROM v1 GROUP BY id;
	CREATE MATERIALIZED VIEW v3 AS SELECT id + 0 AS id, n FROM v2 WHERE n > 0;
	CREATE STREAM noise (x bigint); CREATE MATERIALIZED VIEW noisy AS SELECT x % 10 AS m, count(*) AS n FROM noise GROUP BY x % 10`)
	ctx, stop := context.WithCancel(context.Background())
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			lc, err := pgx.Connect(ctx, url)
			if err != nil {
				return
			}
			defer lc.Close(context.Background())
			for i := 0; ctx.Err() == nil; i++ {
				_, _ = lc.Exec(ctx, "INSERT INTO noise SELECT g FROM generate_series(1, 20) g")
			}
		})
	}
	var next, missed atomic.Int64
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			w, err1 := pgx.Connect(context.Background(), url)
			r, err2 := pgx.Connect(context.Background(), url)
			if err1 != nil || err2 != nil {
				t.Error(err1, err2)
				return
			}
			defer w.Close(context.Background())
			defer r.Close(context.Background())
			for {
				id := next.Add(1)
				if id > int64(rounds) {
					return
				}
				if _, err := w.Exec(context.Background(), "INSERT INTO s VALUES ($1, 1, '2024-01-01')", id); err != nil {
					t.Error(err)
					return
				}
				var n int64
				if err := r.QueryRow(context.Background(), "SELECT n FROM v3 WHERE id = $1", id).Scan(&n); err != nil || n != 1 {
					missed.Add(1)
					t.Errorf("row %d: n = %d, %v", id, n, err)
				}
			}
		})
	}
	writers.Wait()
	stop()
	load.Wait()
	if missed.Load() > 0 {
		t.Errorf("%d of %d rows were not there", missed.Load(), rounds)
	}
}

// TestOneEpoch is promise 2: two views over one stream never disagree within one statement.
func TestOneEpoch(t *testing.T) {
	url, _ := startServer(t, t.TempDir())
	c := connect(t, url)
	execSQL(t, c, `CREATE STREAM s (x bigint);
	CREATE MATERIALIZED VIEW a AS SELECT count(*) AS n, sum(x) AS sx FROM s; CREATE MATERIALIZED VIEW b AS SELECT x % 7 AS m, count(*) AS n, sum(x) AS sx FROM s GROUP BY x % 7`)
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			w, err := pgx.Connect(ctx, url)
			if err != nil {
				return
			}
			defer w.Close(context.Background())
			for ctx.Err() == nil {
				_, _ = w.Exec(ctx, "INSERT INTO s SELECT g FROM generate_series(1, 30) g")
			}
		})
	}
	for i := range 500 {
		var ok bool
		if err := c.QueryRow(ctx, `SELECT (SELECT n FROM a) = (SELECT coalesce(sum(n), 0) FROM b) AND (SELECT coalesce(sx, 0) FROM a) = (SELECT coalesce(sum(sx), 0) FROM b)
		  AND (SELECT n FROM a) = (SELECT count(*) FROM s)`).Scan(&ok); err != nil || !ok {
			t.Fatalf("round %d: views disagree (%v)", i, err)
		}
	}
	stop()
	wg.Wait()
}

// TestKilledUnderLoad is promise 3: after kill -9 at a random moment under load, every acknowledged row is there once, and views
// equal their queries.
func TestKilledUnderLoad(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewSource(seed))
	dir := t.TempDir()
	acked := map[int64]bool{}
	tried := map[int64]bool{}
	var mu sync.Mutex
	var next atomic.Int64
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	for round := range rounds {
		p := startProcess(t, dir, "--checkpoint-interval", "150ms")
		c := connect(t, p.url)
		if round == 0 {
			execSQL(t, c, `CREATE STREAM s (id bigint, k int, ts timestamp, WATERMARK FOR ts AS ts - INTERVAL '1 second');
			CREATE TABLE t (id bigint PRIMARY KEY, v bigint);
			CREATE MATERIALIZED VIEW per_k AS SELECT k, count(*) AS n, sum(id) AS s, min(id) AS lo, max(id) AS hi FROM s GROUP BY k;
			CREATE MATERIALIZED VIEW win AS SELECT window.start AS ws, k, count(*) AS n FROM s GROUP BY window(ts, '10 seconds'), k;
			CREATE MATERIALIZED VIEW tv AS SELECT v, count(*) AS n FROM t GROUP BY v`)
		}
		checkAcked(t, c, acked, tried)
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				conn, err := pgx.Connect(context.Background(), p.url)
				if err != nil {
					return
				}
				defer conn.Close(context.Background())
				for {
					id := next.Add(1)
					mu.Lock()
					tried[id] = true
					mu.Unlock()
					_, err := conn.Exec(context.Background(), fmt.Sprintf("BEGIN; INSERT INTO s VALUES (%d, %d, timestamp '2024-01-01' + interval '%d seconds'); INSERT INTO t VALUES (%d, %d); COMMIT", id, id%5, id/10, id, w))
					if err != nil {
						return
					}
					mu.Lock()
					acked[id] = true
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(200+rnd.Intn(600)) * time.Millisecond)
		p.kill()
		wg.Wait()
	}
	url, stop := startServer(t, dir)
	c := connect(t, url)
	checkAcked(t, c, acked, tried)
	for view, query := range map[string]string{
		"per_k": "SELECT k, count(*), sum(id), min(id), max(id) FROM s GROUP BY k", "tv": "SELECT v, count(*) FROM t GROUP BY v",
	} {
		got, want := csvOf(t, c, "SELECT * FROM "+view+" ORDER BY 1"), csvOf(t, c, query+" ORDER BY 1")
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", view, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	var windows, late, all int64
	if err := c.QueryRow(context.Background(), `SELECT (SELECT sum(n) FROM win)::bigint, (SELECT count(*) FROM tidemark.late_rows WHERE view_name = 'win'), (SELECT count(*) FROM s)`).Scan(&windows, &late, &all); err != nil {
		t.Fatal(err)
	}
	if windows+late != all {
		t.Errorf("window counts %d and %d late rows are not the %d rows of the stream", windows, late, all)
	}
	stop()
	if code := checkMain([]string{dir}); code != 0 {
		t.Errorf("tidemark check: exit code %d", code)
	}
}

func checkAcked(t *testing.T, c *pgx.Conn, acked, tried map[int64]bool) {
	t.Helper()
	rows, err := c.Query(context.Background(), "SELECT s.id, t.id FROM s FULL JOIN t ON s.id = t.id")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for rows.Next() {
		var a, b *int64
		if err := rows.Scan(&a, &b); err != nil {
			t.Fatal(err)
		}
		if a == nil || b == nil {
			t.Fatalf("half of a transaction: %v %v", a, b)
		}
		if seen[*a] || !tried[*a] {
			t.Fatalf("row %d twice, or never written", *a)
		}
		seen[*a] = true
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	for id := range acked {
		if !seen[id] {
			t.Fatalf("acknowledged row %d is lost", id)
		}
	}
}

// TestStartRefused starts servers that can't run: each gives one clear line and an exit code that is not 0.
func TestStartRefused(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	unknown := t.TempDir()
	q := startProcess(t, unknown)
	q.terminate(t)
	if err := os.WriteFile(filepath.Join(unknown, "TIDEMARK"), []byte("tidemark 999 x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, addr, want string }{
		"locked directory": {dir, freeAddr(t), "in use"},
		"port in use":      {t.TempDir(), busy.Addr().String(), "address already in use"},
		"unknown format":   {unknown, freeAddr(t), "format"},
		"not a directory":  {file, freeAddr(t), ""},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), asServer+"="+strings.Join([]string{"--data", c.dir, "--listen", c.addr, "--log-level", "error"}, "\x1f"))
		out, err := cmd.CombinedOutput()
		text := strings.TrimSpace(string(out))
		if err == nil || !strings.HasPrefix(text, "tidemark: ") || strings.Contains(text, "\n") || !strings.Contains(text, c.want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	if code := p.terminate(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
