package engine

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidemarkdb/tidemark/parser/ast"
	"github.com/tidemarkdb/tidemark/sql/session"
	"github.com/tidemarkdb/tidemark/sql/sqlerr"
	"github.com/tidemarkdb/tidemark/sql/types"
)

// VirtualClock is processing time that stands still until it is set: timers, TTLs and idle streams are then tested in milliseconds. It
// may be used from any goroutine.
type VirtualClock struct{ micros atomic.Int64 }

// NewVirtualClock starts a clock at 2000-01-01 00:00 UTC.
func NewVirtualClock() *VirtualClock {
	c := &VirtualClock{}
	c.micros.Store(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro())
	return c
}

// Now gives the clock's time.
func (c *VirtualClock) Now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }

// set moves the clock, which never goes back.
func (c *VirtualClock) set(micros int64) bool {
	for {
		now := c.micros.Load()
		if micros < now {
			return false
		}
		if c.micros.CompareAndSwap(now, micros) {
			return true
		}
	}
}

// maxClockEpochs bounds the epochs of one SET CLOCK: a timer can register the next one without end.
const maxClockEpochs = 1000

// setClock runs SET CLOCK TO 'time': it returns when all that is due by then has happened.
func (s *sess) setClock(ctx context.Context, x *ast.Set) (session.Result, error) {
	c := s.e.opts.VirtualClock
	if c == nil {
		return nil, sqlerr.New(sqlerr.CantChangeRuntimeParam, "the clock cannot be set").
			WithHint("Start the server with --virtual-clock, or run the file with tidemark test.")
	}
	if err := s.apart(ctx, "SET CLOCK"); err != nil {
		return nil, err
	}
	to, err := types.Parse(types.Of(types.TimestampTZ), strings.Join(x.Values, ", "), s.Env())
	if err != nil {
		return nil, err
	}
	if !types.IsFiniteTime(to.I) {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the clock cannot be set to infinity")
	}
	if !c.set(to.I) {
		s.notice(sqlerr.Notice("the clock stands at %s and is not set back", c.Now().Format("2006-01-02 15:04:05.999999")))
	}
	// A unit that changes nothing makes an epoch if something is due. What is cut short goes on in further ones, and so do timers that a
	// firing timer registers for a time that has come.
	for epochs := 1; ; epochs++ {
		if err := s.e.submit(ctx, 0, func(*epochBuild) error { return nil }); err != nil {
			return nil, err
		}
		due, again := int64(0), false
		if err := s.e.do(func() { due, again = s.e.nextDue() }); err != nil {
			return nil, err
		}
		if !again || due > s.e.current().ts {
			return done("SET"), nil
		}
		if epochs == maxClockEpochs {
			s.notice(sqlerr.Notice("after %d epochs at %s timers are still due: those that fire register others", epochs, c.Now().Format("2006-01-02 15:04:05.999999")))
			return done("SET"), nil
		}
	}
}
