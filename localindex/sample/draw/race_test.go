//go:build race

package draw

// raceEnabled keeps the longest simulations out of runs with the race detector; each drawing uses one goroutine.
const raceEnabled = true
