//go:build race

package selftest

// Rendering takes ten times as long with the race detector: one view each shows what it can.
const viewsOfLikeWorks = 1
