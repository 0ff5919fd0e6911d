package hub

import (
	"context"
	"errors"
	"testing"

	"docent/sync/hub/hold"
)

// TestOneHubForAFolder: a second hub on one SQLite folder stops before it touches anything, and the folder is free again when
// the first has ended.
func TestOneHubForAFolder(t *testing.T) {
	cfg := Config{Dir: t.TempDir(), MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0"}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	first, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Run(ctx) }()
	select {
	case <-first.Ready():
	case err := <-ended:
		t.Fatal(err)
	}
	second, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Run(t.Context()); !errors.Is(err, hold.ErrInUse) {
		t.Errorf("the second: %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	lock, err := hold.Folder(cfg.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Error(err)
	}
}
