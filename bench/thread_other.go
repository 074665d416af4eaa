//go:build !linux

package bench

import "time"

func threadID() int { return 0 }

func threadCPU(int) time.Duration { return 0 }
