package fleet

import (
	"context"
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"time"

	"docent/sync/enrol"
	"docent/sync/hub"
	"docent/sync/hub/authority"
	"docent/sync/hub/store"
	"docent/sync/wire"
)

// TestKiosksReconnectAtOnce cuts the line of many kiosks, each with its certificate, at the same instant, with events
// waiting in each: all come back, and every event is in the hub's store, once. The long form is with 1,000 of them, for
// whose outboxes and both ends of TLS this one process has to do.
func TestKiosksReconnectAtOnce(t *testing.T) {
	kiosks, rate, last := 12, 120.0, time.Second
	if os.Getenv("DOCENT_FAULTS") == "1" {
		kiosks, rate, last = 1000, 1000, 10*time.Second
	}
	dir := t.TempDir()
	a, err := authority.Open(filepath.Join(dir, "authority"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.New(hub.Config{Dir: dir, MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Site: "fleet"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-ended:
		stop()
		t.Fatal(err)
	}
	report, streams, err := Run(ctx, Options{
		Broker: "tls://" + h.MQTTAddr(), Site: "fleet", Kiosks: kiosks, Dir: t.TempDir(), Rate: rate, Last: last,
		Backlog: 10, Outage: 5 * time.Second * time.Duration(kiosks) / 1000,
		TLS: func(k wire.Address) (*tls.Config, error) { return enrol.ClientConfig(a, k) },
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if report.Unacknowledged != 0 || len(streams) != kiosks || report.Reconnect == nil {
		t.Fatalf("report %+v, reconnect %+v", report, report.Reconnect)
	}
	rows, twice := 0, 0
	seen := map[string]bool{}
	s, err := store.Open(context.Background(), filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for after := int64(0); ; {
		page, err := s.Events(context.Background(), after, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, e := range page {
			if seen[e.EventID] {
				twice++
			}
			seen[e.EventID] = true
			rows++
		}
		after = page[len(page)-1].ID
	}
	if rows != report.Events || twice != 0 {
		t.Errorf("%d events told durable, %d rows, %d stored twice", report.Events, rows, twice)
	}
	t.Logf("%d kiosks connected, all at once, in %.1f s; cut all at once, half back after %.1f s, all after %.1f s, at most %.0f %% in one second; %d events told durable, %d lost, %d stored twice",
		kiosks, report.ConnectS, report.Reconnect.P50S, report.Reconnect.AllS, 100*report.Reconnect.BusiestSecond, report.Events, report.Events-rows, twice)
}
