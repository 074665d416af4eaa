package checkpoint

import (
	"fmt"

	"github.com/tidemarkdb/tidemark/state"
)

// Report is what Check found.
type Report struct {
	state.VerifyReport
	Checkpoint uint64 // epoch of the last checkpoint, 0: none
}

// Check verifies a data directory that no server has open: checksums of all
// files, that every key is of a known kind, that rows, chunks and records
// decode, and that the input log continues the checkpoint without a gap.
// Problems are in the report; an error means that the directory could not be
// checked at all. What is not a matter of bytes, that each view equals its
// query, is for the engine.
func Check(dir string) (*Report, error) {
	st, err := state.Open(dir, state.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer st.Close()
	return check(st)
}

func check(st *state.Store) (*Report, error) {
	r := &Report{}
	if err := st.Verify(&r.VerifyReport); err != nil {
		return nil, err
	}
	c, ok, err := Load(st)
	switch {
	case err != nil:
		r.Problems = append(r.Problems, err.Error())
	case ok:
		r.Checkpoint = c.Epoch
	}
	if r.FirstEpoch > r.Checkpoint+1 {
		r.Problems = append(r.Problems, fmt.Sprintf("the input log starts at epoch %d, after the checkpoint at %d", r.FirstEpoch, r.Checkpoint))
	}
	return r, nil
}
