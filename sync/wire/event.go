// Package wire is what travels between kiosk and hub: topics, event envelopes and acknowledgements.
package wire

import (
	"encoding/json"
	"time"
)

// Schema is the version of the envelope.
const Schema = 1

// Event is the envelope of one memory event. Seq starts at 1 and has no gap within a stream; PrevHash is the
// SHA-256 of the envelope before it (hex, empty for the first).
type Event struct {
	Schema      int             `json:"schema"`
	KioskID     string          `json:"kiosk_id"`
	StreamID    string          `json:"stream_id"`
	Seq         uint64          `json:"seq"`
	EventID     string          `json:"event_id"` // UUIDv7
	TSWall      time.Time       `json:"ts_wall"`
	TSMonoMS    int64           `json:"ts_mono_ms"` // since boot
	BootID      string          `json:"boot_id"`
	ClockSynced bool            `json:"clock_synced"`
	Type        string          `json:"type"`
	Data        json.RawMessage `json:"data"`
	PrevHash    string          `json:"prev_hash"`
}

// Range is an inclusive range of sequence numbers.
type Range [2]uint64

// Ack is the hub's answer: it has everything up to AckedSeq, and of what came after it lacks Missing.
type Ack struct {
	StreamID string  `json:"stream_id"`
	AckedSeq uint64  `json:"acked_seq"`
	Missing  []Range `json:"missing,omitempty"`
}
