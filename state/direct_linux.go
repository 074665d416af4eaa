package state

import (
	"os"
	"syscall"
)

// createDirect makes a file whose writes bypass the cache of the operating system; they must be aligned.
func createDirect(path string) (syncedFile, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_DIRECT, 0o600)
}
