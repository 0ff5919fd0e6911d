package outbox

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"docent/internal/space/smalldisk"
)

// TestRealFullDisk fills a small disk of its own until Append refuses, with the default limit, and empties it again.
// Without the limit the store would be killed by SIGBUS.
func TestRealFullDisk(t *testing.T) {
	if !faults() {
		t.Skip("needs DOCENT_FAULTS=1 and the right to mount a tmpfs")
	}
	disk := smalldisk.Mount(t, "256m")
	dir := filepath.Join(disk, "outbox")
	o := open(t, dir, func(opt *Options) { opt.MinFree = 0 })
	data := map[string]string{"a": strings.Repeat("x", 60_000)}
	for round := range 4 {
		stored := 0
		for {
			_, err := o.Append(context.Background(), "exhibit.seen", data)
			if errors.Is(err, ErrDiskFull) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if stored++; stored > 10_000 {
				t.Fatal("the disk is never full")
			}
		}
		s := o.State()
		t.Logf("round %d: full after %d more events, %d held, %d MiB free", round, stored, s.Depth, s.FreeBytes>>20)
		closeNow(t, o)
		o = open(t, dir, func(opt *Options) { opt.MinFree = 0 })
		if got := o.State(); got.Depth != s.Depth || got.Degraded != "" {
			t.Fatalf("after a restart on the full disk: %+v", got)
		}
		if freed, err := o.Ack(ack(o, s.LastSeq)); err != nil || freed != s.Depth {
			t.Fatalf("freed %d of %d, %v", freed, s.Depth, err)
		}
		closeNow(t, o) // waits for what follows the acknowledgement
		o = open(t, dir, func(opt *Options) { opt.MinFree = 0 })
		if got := o.State(); got.FreeBytes < 230<<20 {
			t.Errorf("round %d: empty, and %d MiB free of 256", round, got.FreeBytes>>20)
		}
	}
	closeNow(t, o)
}
