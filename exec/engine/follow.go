package engine

import "context"

// Epoch gives the number of the last published epoch.
func (e *Engine) Epoch() uint64 { return e.current().epoch }

// WaitEpoch waits until an epoch after the given one is published, and gives its number. Errors: the context's, 57P01 when the engine closes.
func (e *Engine) WaitEpoch(ctx context.Context, after uint64) (uint64, error) {
	for {
		next := e.published.wait()
		if n := e.Epoch(); n > after {
			return n, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-e.loopDone:
			return 0, errShutdown()
		}
	}
}
