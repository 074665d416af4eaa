package bench

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// threadID names the calling thread for threadCPU.
func threadID() int { return syscall.Gettid() }

// threadCPU gives the time that a thread of the process has run, up to this moment, 0 where the system does not tell. It asks the thread's
// clock: what /proc says of a running thread is as of the last tick, milliseconds ago.
func threadCPU(id int) time.Duration {
	const ofThread, ran = 4, 2 // as in the kernel's uapi: a clock of one thread, of the time it was scheduled
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^id)<<3|ofThread|ran, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
