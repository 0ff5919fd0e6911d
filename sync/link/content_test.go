package link

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"docent/sync/wire"
)

const object = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestContentComesDown(t *testing.T) {
	h := startHub(t)
	content := bytes.Repeat([]byte("content "), 1<<15)
	h.fetched = func(req wire.Fetch) (wire.Chunk, bool) {
		size := int64(len(content))
		end := min(req.Offset+int64(req.Length), size)
		return wire.Chunk{ID: req.ID, Name: req.Name, Offset: req.Offset, Size: size, Data: content[req.Offset:end]}, true
	}
	wishes := make(chan wire.Desired, 1)
	k := startKiosk(t, h.url(), func(o *Options) { o.Desired = func(d wire.Desired) { wishes <- d } })
	if err := eventually(t, k.link, wire.Fetch{Name: object, Length: 1}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(content))
	var wg sync.WaitGroup
	for at := 0; at < len(content); at += wire.MaxBlock {
		wg.Go(func() {
			c, err := k.link.Fetch(t.Context(), wire.Fetch{Name: object, Offset: int64(at), Length: wire.MaxBlock})
			if err != nil {
				t.Error(err)
				return
			}
			copy(got[at:], c.Data)
		})
	}
	wg.Wait()
	if !bytes.Equal(got, content) {
		t.Error("other bytes came")
	}
	if err := h.broker.Publish(addr.Topic(wire.KindDesired), []byte(`{"release_id":"2-abc","number":2}`), true); err != nil {
		t.Fatal(err)
	}
	if d := <-wishes; d.Number != 2 || d.ReleaseID != "2-abc" {
		t.Errorf("%+v", d)
	}
	k.link.Report(wire.Deploy{Status: wire.DeploySuccess, ReleaseID: "2-abc", TS: time.Now()})
	h.until("the report came", func() bool { return len(h.deploys) > 0 && h.deploys[len(h.deploys)-1].ReleaseID == "2-abc" })
}

// eventually fetches as soon as the link is up.
func eventually(t *testing.T, l *Link, req wire.Fetch) error {
	for {
		_, err := l.Fetch(t.Context(), req)
		if !errors.Is(err, ErrNotConnected) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func TestFetchEndsWithTheConnection(t *testing.T) {
	h := startHub(t)
	asked := make(chan struct{}, 100)
	h.fetched = func(wire.Fetch) (wire.Chunk, bool) { asked <- struct{}{}; return wire.Chunk{}, false }
	k := startKiosk(t, h.url())
	failed := make(chan error, 1)
	go func() { failed <- eventually(t, k.link, wire.Fetch{Name: object, Length: 1}) }()
	<-asked
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.link.Fetch(ctx, wire.Fetch{Name: object, Length: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	k.stop()
	if err := <-failed; !errors.Is(err, errLost) {
		t.Errorf("connection ended: %v", err)
	}
	if _, err := k.link.Fetch(t.Context(), wire.Fetch{Name: object, Length: 1}); !errors.Is(err, ErrNotConnected) {
		t.Errorf("not connected: %v", err)
	}
}

// TestContentWaitsForTheConnection: what is asked for before there is one is answered when there is.
func TestContentWaitsForTheConnection(t *testing.T) {
	h := startHub(t)
	h.fetched = func(req wire.Fetch) (wire.Chunk, bool) {
		return wire.Chunk{ID: req.ID, Name: req.Name, Size: 1, Data: []byte("x")}, true
	}
	h.mu.Lock()
	h.refuse = true
	h.mu.Unlock()
	k := startKiosk(t, h.url())
	got := make(chan error, 1)
	go func() {
		_, err := Content{k.link}.Fetch(t.Context(), wire.Fetch{Name: object, Length: 1})
		got <- err
	}()
	h.mu.Lock()
	h.refuse = false
	h.mu.Unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
	k.stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Content{k.link}).Fetch(ctx, wire.Fetch{Name: object, Length: 1}); !errors.Is(err, ErrNotConnected) {
		t.Errorf("not connected: %v", err)
	}
}
