package wire

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTopics(t *testing.T) {
	a := Address{Site: "museum-1", Kiosk: "hall-2"}
	for kind, want := range map[Kind]string{
		KindEvent: "dt/docent/v1/museum-1/hall-2/event", KindStatus: "dt/docent/v1/museum-1/hall-2/status",
		KindDeploy: "dt/docent/v1/museum-1/hall-2/deploy", KindResult: "dt/docent/v1/museum-1/hall-2/res",
		KindFetch: "dt/docent/v1/museum-1/hall-2/fetch",
		KindAck:   "cmd/docent/v1/museum-1/hall-2/ack", KindRequest: "cmd/docent/v1/museum-1/hall-2/req",
		KindChunk: "cmd/docent/v1/museum-1/hall-2/chunk", KindDesired: "cmd/docent/v1/museum-1/hall-2/desired",
		KindEmergency: "cmd/docent/v1/museum-1/hall-2/emergency",
	} {
		topic := a.Topic(kind)
		if topic != want {
			t.Errorf("topic of %s is %s, want %s", kind, topic, want)
		}
		got, k, err := ParseTopic(topic)
		if err != nil || got != a || k != kind {
			t.Errorf("ParseTopic(%s) = %v, %s, %v", topic, got, k, err)
		}
	}
	if got, err := ParseClientID(a.ClientID()); err != nil || got != a {
		t.Errorf("ParseClientID(%s) = %v, %v", a.ClientID(), got, err)
	}
}

func TestParseTopicRefuses(t *testing.T) {
	for _, topic := range []string{
		"", "#", "dt/#", "dt/docent/v1/+/k/event", "dt/docent/v1/s/+/event", "dt/docent/v1/s/k/#", "dt/docent/v1/s/k/+",
		"/dt/docent/v1/s/k/event", "dt/docent/v1/s/k/event/", "dt/docent/v1/s/k/event/more", "dt/docent/v1/s/k",
		"dt/docent/v2/s/k/event", "dt/other/v1/s/k/event", "dt/docent/v1/s/k/ack", "cmd/docent/v1/s/k/event",
		"dt/docent/v1/S/k/event", "dt/docent/v1/s/k.1/event", "dt/docent/v1//k/event", "dt/docent/v1/s/k /event",
		"dt/docent/v1/s/-k/event", "$share/g/dt/docent/v1/s/k/event",
	} {
		if _, _, err := ParseTopic(topic); !errors.Is(err, ErrInvalid) {
			t.Errorf("ParseTopic(%q): %v, want ErrInvalid", topic, err)
		}
	}
}

func TestParseClientIDRefuses(t *testing.T) {
	for _, id := range []string{"", "_", "site", "site_", "_kiosk", "a_b_c", "a/b", "a.b", "A_b", "a_" + strings.Repeat("k", MaxName+1)} {
		if a, err := ParseClientID(id); err == nil {
			t.Errorf("ParseClientID(%q) = %v", id, a)
		}
	}
}

func TestStatusRoundTrip(t *testing.T) {
	want := Status{
		State: PresenceReady, SessionSeq: 3, BootID: "b1b2b3b4-1111-4222-8333-444455556666", TS: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Version: "1.2.3", StreamID: ackStream, OutboxDepth: 4, AckedSeq: 5, FreeBytes: 1 << 40, Degraded: "events 1 to 2 are gone",
	}
	b, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeStatus(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := DecodeStatus(append(b[:len(b)-1], []byte(`,"camera":"ready"}`)...)); err != nil {
		t.Errorf("a field of a newer kiosk: %v", err)
	}
}

func TestDecodeStatusRefuses(t *testing.T) {
	boot := `"boot_id":"b1b2b3b4-1111-4222-8333-444455556666"`
	tests := []struct {
		name, bytes string
		want        error
	}{
		{"nothing", "", ErrInvalid},
		{"unknown word", `{"state":"happy",` + boot + `}`, ErrInvalid},
		{"no boot id", `{"state":"ready"}`, ErrInvalid},
		{"text too long", `{"state":"ready",` + boot + `,"version":"` + strings.Repeat("x", 65) + `"}`, ErrTooLarge},
		{"too large", strings.Repeat(" ", MaxStatus+1), ErrTooLarge},
		{"session over 2⁵³", `{"state":"ready",` + boot + `,"session_seq":9007199254740992}`, ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := DecodeStatus([]byte(tt.bytes)); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// FuzzParseTopic: what is accepted is exactly what Topic writes.
func FuzzParseTopic(f *testing.F) {
	f.Add("dt/docent/v1/s/k/event")
	f.Add("cmd/docent/v1/s/k/ack")
	f.Fuzz(func(t *testing.T, topic string) {
		a, k, err := ParseTopic(topic)
		if err == nil && a.Topic(k) != topic {
			t.Fatalf("%q reads as %q", topic, a.Topic(k))
		}
	})
}

// FuzzDecodeStatus: whatever is accepted encodes to what decodes the same.
func FuzzDecodeStatus(f *testing.F) {
	f.Add([]byte(`{"state":"ready","session_seq":1,"boot_id":"b1b2b3b4-1111-4222-8333-444455556666","ts":"2026-01-02T03:04:05Z"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := DecodeStatus(b)
		if err != nil {
			return
		}
		out, err := s.Encode()
		if err != nil {
			t.Fatalf("accepted but cannot be encoded: %v", err)
		}
		again, err := DecodeStatus(out)
		if err != nil {
			t.Fatalf("own encoding is refused: %v", err)
		}
		if !again.TS.Equal(s.TS) {
			t.Fatalf("time changed from %v to %v", s.TS, again.TS)
		}
		s.TS, again.TS = time.Time{}, time.Time{}
		if s != again {
			t.Fatalf("%+v became %+v", s, again)
		}
	})
}
