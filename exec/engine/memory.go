package engine

import (
	"math"
	"os"
	"runtime/debug"
)

// LimitMemory tells Go's runtime that the process is to stay near a budget of memory, as Options.MemoryBytes: without a limit the heap grows to
// twice what is in use before it is collected, whatever the budget. It is for a program that is a database and nothing else; one that embeds
// the engine decides for itself. GOMEMLIMIT in the environment takes precedence. It also keeps a small heap from being collected all the time.
func LimitMemory(budget int64) {
	if os.Getenv("GOMEMLIMIT") != "" || budget <= 0 || budget > math.MaxInt64/2 {
		return
	}
	// An eighth above: what the budget counts is close to it when state is large, and collecting all the time to stay below it helps nobody.
	debug.SetMemoryLimit(max(budget+budget/8, minMemoryLimit))
	setHeapFloor(budget)
}

// minMemoryLimit is what the process itself needs, however small the budget.
const minMemoryLimit = 64 << 20
