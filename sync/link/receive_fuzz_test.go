package link

import (
	"testing"

	"docent/sync/outbox"
	"docent/sync/wire"
)

// message is what a broker delivers.
type message struct {
	topic   string
	payload []byte
}

func (m message) Duplicate() bool   { return false }
func (m message) Qos() byte         { return 1 }
func (m message) Retained() bool    { return false }
func (m message) Topic() string     { return m.topic }
func (m message) MessageID() uint16 { return 1 }
func (m message) Payload() []byte   { return m.payload }
func (m message) Ack()              {}

// FuzzReceive delivers whatever a hub or a broker may send, on each of the kiosk's topics and on any other: what cannot
// be read is passed over, what can holds to its limits, and what is another kiosk's goes nowhere.
func FuzzReceive(f *testing.F) {
	mine := wire.Address{Site: "museum", Kiosk: "kiosk-1"}
	kinds := []wire.Kind{wire.KindAck, wire.KindRequest, wire.KindChunk, wire.KindDesired, wire.KindEmergency, wire.KindVisit}
	for _, kind := range kinds {
		for _, payload := range []string{
			"", "{}", "null", `{"stream_id":"0192f0c1-2345-7abc-8def-0123456789ab","acked_seq":3,"missing":[[4,5]]}`, `{"release_id":"2-abc","number":2}`,
			`{"number":3,"text":{"en":"Please leave."}}`, `{"changed":["0123456789abcdef0123456789abcdef"]}`, "{\"id\":1,\"name\":\"x\"}\nbytes", "\x00\xff",
			`{"id":"0192f0c1-2345-7abc-8def-0123456789ab","name":"sleep","issued_at":"2026-05-04T12:00:00Z","expires_at":"2026-05-04T12:10:00Z","sent_at":"2026-05-04T12:00:00Z"}`,
		} {
			f.Add(mine.Topic(kind), []byte(payload))
		}
	}
	f.Add("cmd/docent/v1/museum/kiosk-2/ack", []byte("{}"))
	f.Add("$SYS/broker", []byte("1"))
	box, err := outbox.Open(f.TempDir(), outbox.Options{Kiosk: "kiosk-1", MinFree: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := box.Close(); err != nil {
			f.Error(err)
		}
	})
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		calls := 0
		l, err := New(Options{
			Broker: "tcp://127.0.0.1:1", Site: mine.Site, Kiosk: mine.Kiosk, Outbox: box,
			Desired: func(wire.Desired) { calls++ },
			Command: func(c wire.Command) {
				calls++
				if err := c.Validate(); err != nil || c.Left() > wire.MaxCommandLife {
					t.Errorf("command %+v: %v", c, err)
				}
			},
			Emergency: func(e wire.Emergency) {
				calls++
				if _, err := e.Encode(); err != nil {
					t.Errorf("emergency message %+v: %v", e, err)
				}
			},
			Visits: func(n wire.VisitNotice) {
				calls++
				if _, err := n.Encode(); err != nil {
					t.Errorf("notice %+v: %v", n, err)
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s := &session{l: l, acks: make(chan wire.Ack, 1)}
		s.receive(nil, message{topic, payload})
		to, _, err := wire.ParseTopic(topic)
		if (err != nil || to != mine) && calls+len(s.acks) > 0 {
			t.Errorf("a message on %q was taken", topic)
		}
		if len(s.acks) == 1 {
			if a := <-s.acks; a.Validate() != nil {
				t.Errorf("acknowledgement %+v: %v", a, a.Validate())
			}
		}
	})
}
