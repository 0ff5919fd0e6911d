//go:build !race

package selftest

const viewsOfLikeWorks = 5
