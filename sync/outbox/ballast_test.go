package outbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// TestBallast: room is held while there is enough, counts as free, is given back when the disk is nearly full, and is
// taken again afterwards.
func TestBallast(t *testing.T) {
	const mib = 1 << 20
	var used atomic.Uint64 // by others, of 400 MiB
	dir := t.TempDir()
	file := filepath.Join(dir, "ballast")
	options := func(opt *Options) {
		opt.MinFree = 40 * mib
		opt.Free = func(string) (uint64, error) {
			held := uint64(0)
			if info, err := os.Stat(file); err == nil {
				held = uint64(info.Size())
			}
			return 400*mib - min(400*mib, used.Load()+held), nil
		}
	}
	holds := func(want bool) {
		t.Helper()
		deadline := time.Now().Add(10 * time.Second)
		for {
			_, err := os.Stat(file)
			if (err == nil) == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("held: %t, want %t (%v)", !want, want, err)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	o := open(t, dir, options)
	holds(true)
	if got := o.State().FreeBytes; got != 400*mib {
		t.Errorf("%d MiB free, want all of 400: what is held counts", got/mib)
	}
	fill(t, o, 5)
	used.Store(400 * mib) // all that others can get
	if _, err := o.Append(context.Background(), "exhibit.seen", nil); !errors.Is(err, ErrDiskFull) {
		t.Errorf("append on a full disk: %v", err)
	}
	holds(false)
	used.Store(380 * mib) // 20 were held, and are free now
	if freed, err := o.Ack(ack(o, 3)); err != nil || freed != 3 {
		t.Errorf("acknowledging goes on in the room that was held: freed %d, %v", freed, err)
	}
	used.Store(400 * mib) // others take that too
	if _, err := o.Ack(ack(o, 4)); !errors.Is(err, ErrDiskFull) {
		t.Errorf("acknowledging on a disk without a byte: %v", err)
	}
	used.Store(100 * mib)
	holds(true)
	if _, err := o.Append(context.Background(), "exhibit.seen", nil); err != nil {
		t.Error(err)
	}
	// It stays over a restart, and a start on a full disk begins by giving it back.
	closeNow(t, o)
	holds(true)
	used.Store(375 * mib) // 5 MiB beside it
	o = open(t, dir, options)
	holds(false)
	if s := o.State(); s.Depth != 3 || s.Degraded != "" {
		t.Errorf("state %+v", s)
	}
}
