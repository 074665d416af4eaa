//go:build !linux

package state

import "errors"

// createDirect makes a file whose writes bypass the cache of the operating system; they must be aligned.
func createDirect(string) (syncedFile, error) { return nil, errors.ErrUnsupported }
