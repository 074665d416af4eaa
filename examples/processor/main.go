// Command processor offers a processor written in Go to SQL: it watches machines, and raises an alarm when three readings in a row
// are too hot, gives the all clear when one is not, and says so when a machine has been silent for half an hour.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tidemarkdb/tidemark"
)

const (
	limit   = 80.0
	inARow  = 3
	silence = 30 * 60 * 1000 // ms
)

// watch is the processor. Its state is what it has declared in Init; fields of its own must not hold anything else.
type watch struct {
	tidemark.ProcessorBase
	h     *tidemark.Handle
	state *tidemark.ValueState[machine]
}

// machine is what is kept of a machine: columns hot, alarm and timer_ms.
type machine struct {
	Hot     int // readings in a row that were too hot
	Alarm   bool
	TimerMs int64 // when silence is to be reported
}

// Init declares the state.
func (w *watch) Init(h *tidemark.Handle) (err error) {
	w.h = h
	w.state, err = tidemark.NewValueState[machine](h, "state")
	return err
}

// HandleInputRows takes the readings of one machine.
func (w *watch) HandleInputRows(key tidemark.Row, rows tidemark.InputRows, _ tidemark.TimerValues) (tidemark.Output, error) {
	s, known, err := w.state.Get()
	if err != nil {
		return nil, err
	}
	if known {
		if err := w.h.DeleteTimer(s.TimerMs); err != nil {
			return nil, err
		}
	}
	var out tidemark.Output
	emit := func(ms int64, what string) error {
		r, err := w.h.Row(key.Text("machine"), ms, what)
		out = append(out, r)
		return err
	}
	for i := 0; i < rows.Len(); i++ {
		r := rows.At(i)
		s.TimerMs = max(s.TimerMs, r.Millis("ts")+silence)
		if r.Float("temperature") > limit {
			s.Hot++
		} else {
			s.Hot = 0
		}
		switch {
		case s.Hot >= inARow && !s.Alarm:
			s.Alarm = true
			err = emit(r.Millis("ts"), "alarm")
		case s.Hot == 0 && s.Alarm:
			s.Alarm = false
			err = emit(r.Millis("ts"), "all clear")
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.state.Update(s); err != nil {
		return nil, err
	}
	return out, w.h.RegisterTimer(s.TimerMs)
}

// HandleExpiredTimer reports a machine that has been silent.
func (w *watch) HandleExpiredTimer(key tidemark.Row, _ tidemark.TimerValues, x tidemark.ExpiredTimerInfo) (tidemark.Output, error) {
	r, err := w.h.Row(key.Text("machine"), x.ExpiryTimeInMs, "no data")
	if err != nil {
		return nil, err
	}
	return tidemark.Output{r}, w.state.Clear()
}

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
	open := func() (*tidemark.DB, error) {
		return tidemark.Open(dir, tidemark.WithProcessor("watch", "machine text, at_ms bigint, what text", func() tidemark.StatefulProcessor { return &watch{} }))
	}
	db, err := open()
	if err != nil {
		return err
	}
	err = db.Exec(ctx, `
		CREATE STREAM readings (ts timestamp, machine text, temperature double precision, WATERMARK FOR ts AS ts - INTERVAL '1 minute');
		CREATE MATERIALIZED VIEW events WITH (output_mode = 'append') AS
			SELECT machine, timestamp 'epoch' + at_ms * interval '1 ms' AS at, what
			FROM transform_with_state(TABLE readings PARTITION BY machine, processor => 'watch', time_mode => 'event_time');
		INSERT INTO readings VALUES
			('2024-03-01 10:00', 'm1', 70), ('2024-03-01 10:01', 'm1', 85), ('2024-03-01 10:02', 'm1', 86),
			('2024-03-01 10:02', 'm2', 60), ('2024-03-01 10:03', 'm1', 87);`)
	if err != nil {
		return err
	}
	// State survives the end of the program.
	if err := db.Close(); err != nil {
		return err
	}
	if db, err = open(); err != nil {
		return err
	}
	defer db.Close()
	if err := db.Exec(ctx, "INSERT INTO readings VALUES ('2024-03-01 10:20', 'm1', 71), ('2024-03-01 10:40', 'm1', 72)"); err != nil {
		return err
	}
	rows, err := db.Query(ctx, "SELECT machine, at::time, what FROM events ORDER BY at, machine")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		fmt.Fprintln(out, rows.Values()...)
	}
	return rows.Err()
}
