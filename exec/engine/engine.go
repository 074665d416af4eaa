// Package engine is the database: it owns the catalog, the running views and the epoch loop, and runs the
// statements of sessions (DDL, DML, SELECT, COPY). It implements the contract of package sql/session.
//
// One goroutine, the loop, makes epochs (docs/architecture.md). Sessions run on their clients' goroutines: they plan against
// the published catalog, read published snapshots, and hand writes to the loop as units. What readers see is one immutable value,
// replaced once an epoch.
package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/exec/connector"
	"github.com/tidemarkdb/tidemark/sql/catalog"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/state"
)

// Options of an engine.
type Options struct {
	// Dir is the data directory; it is made if it is not there.
	Dir string
	// MemoryBytes is the budget for state and caches; 0: a default.
	MemoryBytes int64
	// CheckpointInterval is the time between checkpoints; 0: 10 s.
	CheckpointInterval time.Duration
	// System are the system relations of the wire's catalog, beside those of the schema tidemark.
	System []session.SystemRelation
	// StatePartitions is the number of state partitions of views that do not say; 0: that of the cores.
	StatePartitions int
	// BackfillRows is the size of history from which on a new view is filled in the background; 0: a default.
	BackfillRows int64
	// Connectors are what CREATE STREAM can name, by name.
	Connectors map[string]connector.Connector
	// NoSources leaves the sources of streams alone: nothing is read but what was recorded.
	NoSources bool
	// Clock gives processing time: the timestamps of epochs, and what streams are idle by. nil: time.Now. It may be called from any goroutine.
	Clock func() time.Time
	// VirtualClock, if set, is the clock instead, and SET CLOCK moves it.
	VirtualClock *VirtualClock
	// Processors are those in Go that the program offers; nil for none.
	Processors *Processors
	// LoopStarted, if set, is called once on the goroutine that runs all epochs, before the first: a bench ties it to a thread, to tell what time it takes.
	LoopStarted func()
	// SideBySide, if set, is called, on the goroutine that runs the view, with each stretch of work that several state partitions do side by side, and must
	// run it: a bench tells by it what of an epoch they share.
	SideBySide func(run func())
	// Store options that tests set.
	Store state.Options
	Log   zerolog.Logger
}

// Engine is an open database. Its exported methods may be called from any goroutine.
type Engine struct {
	opts  Options
	store *state.Store
	log   zerolog.Logger

	pub       atomic.Pointer[published]
	published broadcaster
	queue     chan *unit
	inLoop    chan func()
	closing   chan struct{}
	loopDone  chan struct{}
	closeOnce sync.Once

	nextOID atomic.Uint32
	nextRow atomic.Int64 // last hidden row id given
	// stateCalls counts calls of statestore and the like that were described.
	stateCalls atomic.Uint32
	system     map[catalog.OID]*systemRelation

	// Of the loop's goroutine:
	streams        map[catalog.OID]*stream
	ordered        []*stream // streams by OID; nil: they changed
	tables         map[catalog.OID]*tableContents
	views          []*view // in dependency order
	viewByOID      map[catalog.OID]*view
	shared         *sharing // what views share; nil: to be found
	gone           []dropped
	lettersRead    bool // a view is built on late rows or dead letters
	newsKept       bool // letters were kept in the last epoch
	newsWaits      bool // letters of views that were filled wait for an epoch, to be given to those who read them
	dirty          bool // epochs since the last checkpoint
	lastCheckpoint time.Time
	checkpoints    *checkpointer
	memoryAt       time.Time     // when memoryUsed counted last
	counting       time.Duration // how long that took
	limitedAt      time.Time     // when it last limited the heap
	memory         int64         // what it counted
	toCopy         int64         // what copies of changed state would take besides
	unwritten      int64         // what of it the next checkpoint would write
	thawing        bool          // a checkpoint was written, and operator state has to let go of what it kept for it
	stopViews      bool          // during a recovery after others that did not end
	startedAt      int64         // microseconds since 1970

	trimmed sync.Map // OIDs of dropped streams whose rows are no longer in the log, for snapshots that are older

	checkpointEpoch atomic.Uint64 // of the last complete checkpoint
	workers         atomic.Int32  // state partitions of the view that has most; set by the loop

	// What the loop has for one epoch after the other.
	units []*unit
	build epochBuild
	live  liveEpoch

	failMu  sync.Mutex
	failure *sqlerr.Error

	sessMu      sync.Mutex
	sessions    map[uint32]*sess
	nextSession uint32

	viewMu   sync.Mutex // guards viewStat
	viewStat map[catalog.OID]*view
	fills    sync.WaitGroup
	syncing  atomic.Bool // a goroutine is about to sync the log (syncSoon)

	sources  sources
	feedings sync.Pool // of *feeding
	again    *rereads  // of a recovery
}

// Open opens or makes the database in o.Dir, recovers it to its last durable epoch and starts the epoch loop.
func Open(o Options) (*Engine, error) {
	if o.VirtualClock != nil {
		o.Clock = o.VirtualClock.Now
	}
	if o.CheckpointInterval == 0 {
		o.CheckpointInterval = 10 * time.Second
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = 4 << 30
	}
	if o.BackfillRows == 0 {
		o.BackfillRows = 500_000
	}
	e := &Engine{opts: o, log: o.Log, queue: make(chan *unit, queueUnits), inLoop: make(chan func()), closing: make(chan struct{}),
		loopDone: make(chan struct{}), system: map[catalog.OID]*systemRelation{}, streams: map[catalog.OID]*stream{},
		tables: map[catalog.OID]*tableContents{}, viewByOID: map[catalog.OID]*view{}, sessions: map[uint32]*sess{}, viewStat: map[catalog.OID]*view{},
		lastCheckpoint: time.Now()}
	if err := e.recover(); err != nil {
		if e.store != nil {
			e.store.Close()
		}
		return nil, err
	}
	for _, s := range e.streams {
		s.wake(e.now())
		if s.src != nil && !o.NoSources {
			s.src.start(nil)
		}
	}
	go e.loop()
	return e, nil
}

// Close stops the loop, checkpoints and closes the store. Open sessions get 57P01 from then on.
func (e *Engine) Close() error {
	var err error
	e.closeOnce.Do(func() {
		close(e.closing)
		<-e.loopDone
		e.stopSources()
		e.fills.Wait()
		for _, v := range e.views {
			if cerr := v.closeOperators(); cerr != nil {
				e.log.Warn().Err(cerr).Str("view", v.rel().Name).Msg("processor did not close")
			}
		}
		if e.readOnly() == nil {
			err = e.finalCheckpoint()
		}
		if err != nil && sqlerr.From(err).Code == sqlerr.DiskFull {
			e.log.Warn().Err(err).Msg("no checkpoint was written; the next start replays the log")
			err = nil
		}
		if cerr := e.store.Close(); err == nil {
			err = cerr
		}
	})
	return err
}

// Checkpoint writes a checkpoint now and waits for it.
func (e *Engine) Checkpoint(ctx context.Context) error { return e.checkpointNow(ctx) }

// current is what readers see.
func (e *Engine) current() *published { return e.pub.Load() }

// broadcaster lets goroutines wait for the next epoch.
type broadcaster struct {
	mu sync.Mutex
	ch chan struct{}
}

// wait gives a channel that is closed at the next broadcast.
func (b *broadcaster) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}

func (b *broadcaster) broadcast() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
}
