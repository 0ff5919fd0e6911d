package update

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"docent/sync/update/trust"
	"docent/sync/wire"
)

// gate is a source that can be away, or go away after some objects.
type gate struct {
	Source
	mu    sync.Mutex
	err   error
	after int // objects, then pull is called and nothing comes any more
	pull  func()
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = nil
}

func (g *gate) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	g.mu.Lock()
	if g.pull != nil && wire.ValidObject(req.Name) {
		if g.after--; g.after < 0 {
			g.err = errors.New("it was pulled")
			g.pull()
		}
	}
	err := g.err
	g.mu.Unlock()
	if err != nil {
		return wire.Chunk{}, err
	}
	return g.Source.Fetch(ctx, req)
}

// TestLook: a stick is looked at while the hub does not answer, and again after it was pulled in the middle.
func TestLook(t *testing.T) {
	h := newHouse(t, t.TempDir())
	u := newKiosk(t, pack(t, 1, 5), h.root()).start(h)
	h.publish(pack(t, 2, 5, 1, 2, 3))
	away := &gate{Source: h, err: errors.New("the hub does not answer")}
	u.opt.Source = away
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- u.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})

	pulled := &gate{Source: h, after: 3}
	pulling, pull := context.WithCancel(t.Context())
	pulled.pull = pull
	if d, err := u.Look(pulling, pulled); !errors.Is(err, context.Canceled) {
		t.Fatalf("pulled: %+v, %v", d, err)
	}
	if s := u.State(); s.Shown == "2" || s.Status == wire.DeployFailure || s.Status == wire.DeployRejected {
		t.Errorf("after it was pulled: %+v", s)
	}
	d, err := u.Look(t.Context(), h)
	if err != nil || d.Status != wire.DeploySuccess || d.Number != 2 {
		t.Fatalf("plugged in again: %+v, %v", d, err)
	}
	d, err = u.Look(t.Context(), h)
	if err != nil || d.ReleaseID != d.Shown || d.Number != 2 {
		t.Errorf("once more: %+v, %v", d, err)
	}

	foreign := newHouse(t, t.TempDir())
	foreign.publish(pack(t, 9, 5))
	if d, err := u.Look(t.Context(), foreign); trust.Code(err) != "signature" || d.Code != "signature" || d.Status != wire.DeployRejected {
		t.Errorf("another house's: %+v, %v", d, err)
	}

	// The hub is back, and nothing of before is in its way.
	h.publish(pack(t, 3, 5, 4))
	away.open()
	u.Desired()
	for u.State().Number != 3 || u.State().Status != wire.DeploySuccess {
		time.Sleep(5 * time.Millisecond)
	}
	if filepath.Base(u.s.Shown()) != u.State().ReleaseID {
		t.Errorf("shown is %s", u.s.Shown())
	}
}
