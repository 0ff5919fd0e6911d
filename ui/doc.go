// Package ui holds what people see: the built pages, embedded in the binary.
//
// In: the files that `make pages` builds from ui/kiosk. Out: a read-only file system. It imports nothing of the
// other areas.
package ui
