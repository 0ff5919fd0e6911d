package hub

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"docent/sync/link"
	"docent/sync/outbox"
)

func TestLine(t *testing.T) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	h, err := New(Config{Dir: t.TempDir(), MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Site: "demo", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	hubDone := make(chan error, 1)
	go func() { hubDone <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-hubDone:
		t.Fatal(err)
	}
	o, err := outbox.Open(t.TempDir(), outbox.Options{Kiosk: "one", Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	l, err := link.New(link.Options{Broker: "tcp://" + h.MQTTAddr(), Site: "demo", Kiosk: "one", Outbox: o, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	linkDone := make(chan error, 1)
	go func() { linkDone <- l.Run(ctx) }()
	for i := range 100 {
		if _, err := o.Append(ctx, "exhibit.seen", map[string]int{"n": i}); err != nil {
			t.Fatal(err)
		}
	}
	for o.Depth() > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	resp, err := http.Get("http://" + h.HTTPAddr() + "/api/v1/kiosks")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	t.Logf("%s %+v", b, l.State())
	start := time.Now()
	cancel()
	t.Log(<-linkDone, <-hubDone, time.Since(start))
}
