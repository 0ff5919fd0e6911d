package outbox

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"docent/sync/wire"
)

// TestNewestIsWhatTheStoreHolds reads from every position, with what is in memory and without.
func TestNewestIsWhatTheStoreHolds(t *testing.T) {
	o := open(t, t.TempDir())
	held := func() int {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.newest.events)
	}
	compare := func(what string) {
		t.Helper()
		all, err := o.Pending(Position{}, 1000, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append([]Pending{{}}, all...) {
			for _, limit := range []int{1, 3, 1000} {
				for _, size := range []int{1, 2000, 1 << 20} {
					got, err := o.Pending(p.Position, limit, size)
					if err != nil {
						t.Fatal(err)
					}
					o.mu.Lock()
					kept := o.newest
					o.newest = newest{}
					o.mu.Unlock()
					want, err := o.Pending(p.Position, limit, size)
					if err != nil {
						t.Fatal(err)
					}
					o.mu.Lock()
					o.newest = kept
					o.mu.Unlock()
					if len(got)+len(want) > 0 && !cmp.Equal(want, got, cmp.AllowUnexported(Position{})) {
						t.Fatalf("%s: after %v, at most %d of %d bytes: %d events, the store has %d", what, p.Position, limit, size, len(got), len(want))
					}
				}
			}
		}
	}
	fill(t, o, 10)
	if held() != 10 {
		t.Fatalf("%d events in memory, want 10", held())
	}
	compare("ten events")
	if _, err := o.Ack(ack(o, 4)); err != nil {
		t.Fatal(err)
	}
	compare("four acknowledged")
	for range 4 { // more than is held in memory
		if _, err := o.Append(context.Background(), "exhibit.seen", map[string]string{"note": strings.Repeat("x", 20<<10)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := held(); n == 0 || n > 3 {
		t.Fatalf("%d events in memory, of more than a third of what may be", n)
	}
	compare("some too long")
	id := o.State().StreamID
	if err := o.SetAside(context.Background(), id, 7, "refused"); err != nil {
		t.Fatal(err)
	}
	compare("one set aside")
	fill(t, o, 3)
	compare("three more")
	if _, err := o.Ack(wire.Ack{StreamID: id, AckedSeq: 1 << 40}); err == nil {
		t.Fatal("a hub that is ahead changes nothing")
	}
	compare("numbered anew")
	fill(t, o, 3)
	compare("three more after that")
	if held() == 0 {
		t.Error("nothing is in memory")
	}
}
