//go:build !race

package reuse

const spoils = false
