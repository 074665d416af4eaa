// Command embedding uses the database inside a program: a stream, a view over it, and a subscription to the view.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tidemarkdb/tidemark"
)

func main() {
	dir, err := os.MkdirTemp("", "tidemark")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), dir, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run is the example; it writes what it sees to out.
func run(ctx context.Context, dir string, out io.Writer) error {
	db, err := tidemark.Open(dir)
	if err != nil {
		return err
	}
	defer db.Close()
	err = db.Exec(ctx, `
		CREATE STREAM sensor (ts timestamp, device text, temperature double precision, WATERMARK FOR ts AS ts - INTERVAL '10 minutes');
		CREATE MATERIALIZED VIEW by_device AS SELECT device, count(*) AS n, avg(temperature) AS mean FROM sensor GROUP BY device;`)
	if err != nil {
		return err
	}

	// A subscription gets what changes, until its context ends.
	subscription, stop := context.WithCancel(ctx)
	defer stop()
	changes := make(chan tidemark.Change)
	ended := make(chan error, 1)
	go func() {
		ended <- db.Subscribe(subscription, "SELECT device, n FROM by_device", func(c tidemark.Change) error {
			select {
			case changes <- c:
			case <-subscription.Done():
			}
			return nil
		})
	}()

	for i, r := range []struct {
		at, device  string
		temperature float64
	}{{"10:00", "boiler", 71.5}, {"10:01", "pump", 40}, {"10:02", "boiler", 72.5}} {
		err := db.Exec(ctx, "INSERT INTO sensor VALUES ($1, $2, $3)", "2024-03-01 "+r.at, r.device, r.temperature)
		if err != nil {
			return err
		}
		c := <-changes
		fmt.Fprintf(out, "change %d: -%v +%v\n", i+1, c.Deleted, c.Inserted)
	}
	stop()
	<-ended

	// What was written is there in the next statement.
	rows, err := db.Query(ctx, "SELECT device, n, mean FROM by_device WHERE n >= $1 ORDER BY device", 1)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var device string
		var n int
		var mean float64
		if err := rows.Scan(&device, &n, &mean); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d readings, mean %g\n", device, n, mean)
	}
	return rows.Err()
}
