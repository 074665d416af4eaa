package engine

import (
	"encoding/binary"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// A recovery that ends the process (it runs out of memory in a view, say) would do so for ever. So each recovery leaves a mark before it
// runs anything, and takes it away when it is through; one that finds the marks of maxRecoveries before it opens the database
// with its views stopped. Streams and tables are there then, and ALTER ... RESUME rebuilds a view.

// maxRecoveries is how many times recovery from one checkpoint may fail to end.
const maxRecoveries = 2

const recoveryMark = "engine recovery" // State: epoch 8 | attempts 8, big-endian

// markRecovery counts an attempt to recover from a checkpoint, and says whether views must stay stopped.
func (e *Engine) markRecovery(epoch uint64) (stop bool, err error) {
	attempts := uint64(0)
	v, ok, err := e.store.GetMeta(recoveryMark)
	if err != nil {
		return false, err
	}
	if ok && len(v) == 16 && binary.BigEndian.Uint64(v) == epoch {
		attempts = binary.BigEndian.Uint64(v[8:])
	}
	mark := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, epoch), attempts+1)
	if err := e.store.PutMeta(recoveryMark, mark); err != nil {
		// A full disk must not keep the database from being opened and read.
		e.log.Warn().Err(err).Msg("recovery could not be marked")
	}
	return attempts >= maxRecoveries, nil
}

// clearRecovery says that recovery has ended.
func (e *Engine) clearRecovery(epoch uint64) {
	mark := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, epoch), 0)
	if err := e.store.PutMeta(recoveryMark, mark); err != nil {
		e.log.Warn().Err(err).Msg("end of recovery could not be marked")
	}
}

// errStoppedByCrashes is why a view does not run after recoveries that failed.
func errStoppedByCrashes(epoch uint64) error {
	return sqlerr.New(sqlerr.NotInPrerequisiteState, "the server ended %d times while it ran the epochs after %d again; views were stopped so that it can start", maxRecoveries, epoch)
}
