//go:build race

package sample

// raceEnabled keeps the simulations behind some pictures out of runs with the race detector.
const raceEnabled = true
