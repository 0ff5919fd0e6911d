package fleet

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"docent/sync/hub"
	"docent/sync/hub/store"
)

func TestFleet(t *testing.T) {
	dir := t.TempDir()
	h, err := hub.New(hub.Config{Dir: dir, MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Site: "fleet", Clear: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	<-h.Ready()
	report, streams, err := Run(ctx, Options{
		Broker: "tcp://" + h.MQTTAddr(), Site: "fleet", Kiosks: 5, Dir: t.TempDir(), Rate: 100, Last: time.Second,
		Backlog: 10, Outage: 300 * time.Millisecond,
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if report.Events != 150 || report.Unacknowledged != 0 || len(streams) != 5 || report.AckMS.P99 <= 0 || report.EventsPerS <= 0 ||
		report.Reconnect == nil || report.Reconnect.AllS <= 0 || report.BacklogEventsPerS <= 0 {
		t.Errorf("report %+v, reconnect %+v", report, report.Reconnect)
	}
	s, err := store.Open(context.Background(), filepath.Join(dir, "hub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	events, err := s.Events(context.Background(), 0, 1000)
	if err != nil || len(events) != report.Events {
		t.Errorf("the hub has %d events, %v", len(events), err)
	}
}

func TestBusiest(t *testing.T) {
	ms := func(n ...int) (out []time.Duration) {
		for _, m := range n {
			out = append(out, time.Duration(m)*time.Millisecond)
		}
		return out
	}
	for _, tt := range []struct {
		took []time.Duration
		want float64
	}{{ms(1), 1}, {ms(0, 1000), 0.5}, {ms(0, 999, 1500, 5000), 0.5}, {ms(0, 100, 200, 5000), 0.75}} {
		if got := busiest(tt.took); got != tt.want {
			t.Errorf("%v: %v, want %v", tt.took, got, tt.want)
		}
	}
	if p := percentiles(ms(3, 1, 2)); p.P50 != 2 || p.Max != 3 {
		t.Errorf("%+v", p)
	}
}
