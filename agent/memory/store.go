package memory

import (
	"context"
	"errors"
	"time"
)

// ErrFull says that the disk is full: the change is remembered until the kiosk stops, and not longer.
var ErrFull = errors.New("disk full")

// Record is an entry of a store.
type Record struct {
	Key   string
	Value []byte
}

// Store keeps records on disk. Values are sealed before they come to it, and keys tell nothing but the visit's name.
type Store interface {
	// Scan calls f with the records whose key begins with prefix, in the order of their keys. f must not keep value.
	Scan(prefix string, f func(key string, value []byte) error) error
	// Commit makes all changes or none, and returns when they are durable. Records die after ttl.
	Commit(ctx context.Context, puts []Record, deletes []string, ttl time.Duration) error
}

// Where records are. A visit's name has no slash.
//
//	f/VISIT/SLOT   a fact or text: its latest command
//	q/VISIT/ID     what was said and is not understood yet
//	d/VISIT/ID     what could not be understood, after all attempts
//	x/VISIT        the visit is forgotten
const (
	atFact = "f/"
	atJob  = "q/"
	atDead = "d/"
	atGone = "x/"
)
