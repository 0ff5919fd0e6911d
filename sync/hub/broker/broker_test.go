package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"docent/sync/wire"
)

// noted is a hub that says what it was handed.
type noted struct {
	last string
	fail error
}

func (n *noted) Events(_ context.Context, from wire.Address, payload []byte) error {
	n.last = fmt.Sprintf("events %s %s", from.ClientID(), payload)
	return n.fail
}

func (n *noted) Status(_ context.Context, from wire.Address, st wire.Status) error {
	n.last = fmt.Sprintf("status %s %s", from.ClientID(), st.State)
	return n.fail
}

func (n *noted) Fetch(_ context.Context, from wire.Address, req wire.Fetch) {
	n.last = fmt.Sprintf("fetch %s %s", from.ClientID(), req.Name)
}

func (n *noted) Deploy(_ context.Context, from wire.Address, d wire.Deploy) error {
	n.last = fmt.Sprintf("deploy %s %s", from.ClientID(), d.Status)
	return n.fail
}

func (n *noted) Result(_ context.Context, from wire.Address, r wire.Result) error {
	n.last = fmt.Sprintf("result %s %s", from.ClientID(), r.Status)
	return n.fail
}

const status = `{"state":"ready","session_seq":1,"boot_id":"b1b2b3b4-1111-4222-8333-444455556666"}`

func TestDeliver(t *testing.T) {
	full := errors.New("the disk is full")
	for _, tt := range []struct {
		name, topic, payload string
		fail                 error
		last                 string
		want                 error
	}{
		{"events, whatever they are", "dt/docent/v1/museum/kiosk-1/event", "x", nil, "events museum_kiosk-1 x", nil},
		{"events that cannot be stored", "dt/docent/v1/museum/kiosk-1/event", "x", full, "events museum_kiosk-1 x", full},
		{"a status", "dt/docent/v1/museum/kiosk-1/status", status, nil, "status museum_kiosk-1 ready", nil},
		{"a status that cannot be read", "dt/docent/v1/museum/kiosk-1/status", "x", nil, "", ErrMessage},
		{"a status that cannot be stored", "dt/docent/v1/museum/kiosk-1/status", status, full, "status museum_kiosk-1 ready", full},
		{"a request for content", "dt/docent/v1/museum/kiosk-1/fetch", `{"id":1,"name":"timestamp.json","length":10}`, nil, "fetch museum_kiosk-1 timestamp.json", nil},
		{"one that cannot be read", "dt/docent/v1/museum/kiosk-1/fetch", `{"id":1,"name":"../x","length":10}`, nil, "", ErrMessage},
		{"a report that cannot be read", "dt/docent/v1/museum/kiosk-1/deploy", "{}", nil, "", ErrMessage},
		{"an answer that cannot be read", "dt/docent/v1/museum/kiosk-1/res", "{}", nil, "", ErrMessage},
		{"what the hub sends", "cmd/docent/v1/museum/kiosk-1/ack", "{}", nil, "", ErrMessage},
		{"no topic of ours", "a/b", "{}", nil, "", ErrMessage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := &noted{fail: tt.fail}
			err := Deliver(t.Context(), n, tt.topic, []byte(tt.payload))
			if !errors.Is(err, tt.want) || n.last != tt.last {
				t.Errorf("error %v, hub was handed %q", err, n.last)
			}
		})
	}
}

func FuzzDeliver(f *testing.F) {
	f.Add("dt/docent/v1/museum/kiosk-1/status", []byte(status))
	f.Add("dt/docent/v1/museum/kiosk-1/event", []byte("{}\n{}"))
	f.Add("dt/docent/v1/museum/kiosk-1/fetch", []byte(`{"id":1,"name":"timestamp.json","length":10}`))
	f.Add("dt/docent/v1/+/kiosk-1/res", []byte(`{}`))
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		n := &noted{}
		if err := Deliver(t.Context(), n, topic, payload); err != nil && n.last != "" {
			t.Errorf("refused (%v) and handed on: %s", err, n.last)
		}
	})
}

// TestLanes puts messages of several keys in: each key's come out in their order.
func TestLanes(t *testing.T) {
	var mu sync.Mutex
	got := map[int][]int{}
	l := NewLanes(4, 8, func(m [2]int) {
		mu.Lock()
		defer mu.Unlock()
		got[m[0]] = append(got[m[0]], m[1])
	})
	for i := range 100 {
		for key := range 7 {
			if err := l.Put(t.Context(), fmt.Sprint(key), [2]int{key, i}); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.Close()
	for key := range 7 {
		for i, v := range got[key] {
			if v != i {
				t.Fatalf("key %d: %d in place %d", key, v, i)
			}
		}
		if len(got[key]) != 100 {
			t.Errorf("key %d: %d messages", key, len(got[key]))
		}
	}
}

func TestLanesAreBounded(t *testing.T) {
	hold := make(chan struct{})
	l := NewLanes(1, 2, func(int) { <-hold })
	taken := 0
	for l.Offer("a", taken) {
		taken++
	}
	if taken < 2 || taken > 3 { // two wait, one may be dealt with
		t.Errorf("%d messages in a lane of two", taken)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 { // the lane may have had one place more by now
		if err := l.Put(ctx, "a", 0); err != nil {
			close(hold)
			l.Close()
			return
		}
	}
	t.Error("a full lane took more")
}
