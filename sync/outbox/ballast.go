package outbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The database writes tables through mapped memory in goroutines of its own, when a memtable is full, when it compacts
// and when it is closed. If somebody else has taken the last byte of the disk by then, the process dies of SIGBUS,
// however early Append began to refuse. So a part of the room that has to stay free is held in a file, which is given
// back once the disk is nearly full and whoever filled it has stopped, which most do when they are told that it is full.
const (
	ballastPart  = 2        // one in so many bytes of Options.MinFree is held
	ballastLeast = 16 << 20 // below this much none is held: for tests and simulations
	ballastFloor = 32 << 20 // free bytes at which it is given back
	ballastStill = 1 << 20  // bytes that others may take between two looks and count as having stopped
	ballastEvery = 250 * time.Millisecond

	// minAny is the room without which nothing is written at all, acknowledgements and the numbers of connections included.
	minAny = 8 << 20
)

// ballast is room on the disk that is held for the database. A nil ballast holds none.
type ballast struct {
	path string
	want uint64
	free func() (uint64, error)

	quit  chan struct{}
	ended chan struct{}

	mu   sync.Mutex
	held uint64
	last uint64 // free bytes at the last look
}

// holdBallast takes room where there is enough, and watches the disk until close.
func (o *Outbox) holdBallast() (*ballast, error) {
	b := &ballast{
		path: filepath.Join(o.dir, "ballast"), want: o.opt.MinFree / ballastPart,
		free: func() (uint64, error) { return o.opt.Free(o.dir) },
		quit: make(chan struct{}), ended: make(chan struct{}),
	}
	if o.opt.Brief || b.want < ballastLeast {
		return nil, nil
	}
	info, err := os.Stat(b.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("room held on the disk: %w", err)
	default:
		b.held = uint64(info.Size())
	}
	if err := b.look(true); err != nil {
		return nil, err
	}
	go b.watch()
	return b, nil
}

// size is how much is held.
func (b *ballast) size() uint64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held
}

func (b *ballast) watch() {
	defer close(b.ended)
	tick := time.NewTicker(ballastEvery)
	defer tick.Stop()
	for {
		select {
		case <-b.quit:
			return
		case <-tick.C:
			_ = b.look(false) // the next look tries again
		}
	}
}

// look gives the room back when the disk is nearly full, at once or when nobody takes more, and takes it again when there is
// enough.
func (b *ballast) look(atOnce bool) error {
	if b == nil {
		return nil
	}
	free, err := b.free()
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	still := atOnce || b.last < free+ballastStill
	b.last = free
	switch {
	case b.held > 0 && free < ballastFloor && still:
		if err := os.Remove(b.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("give back room on the disk: %w", err)
		}
		b.held = 0
	case b.held == 0 && free >= ballastPart*b.want+ballastFloor:
		return b.take()
	}
	return nil
}

// take makes the file, with blocks of its own. A file system that cannot give blocks beforehand holds none.
func (b *ballast) take() error {
	f, err := os.OpenFile(b.path, os.O_CREATE|os.O_RDWR|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("hold room on the disk: %w", err)
	}
	if err := unix.Fallocate(int(f.Fd()), 0, 0, int64(b.want)); err != nil {
		return errors.Join(f.Close(), os.Remove(b.path))
	}
	b.held = b.want
	return f.Close()
}

// close stops watching, after a last look: closing the database writes what it has in memory. The file stays for the
// next start.
func (b *ballast) close() error {
	if b == nil {
		return nil
	}
	close(b.quit)
	<-b.ended
	return b.look(true)
}
