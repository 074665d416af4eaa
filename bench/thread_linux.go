package bench

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

// threadID names the calling thread for threadCPU.
func threadID() int { return syscall.Gettid() }

// threadCPU gives the time that a thread of the process has run, 0 where the system does not tell.
func threadCPU(id int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/schedstat", id))
	if err != nil {
		return 0
	}
	var ns int64
	if _, err := fmt.Sscan(string(b), &ns); err != nil {
		return 0
	}
	return time.Duration(ns)
}
