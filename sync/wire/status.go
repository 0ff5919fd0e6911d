package wire

import (
	"encoding/json"
	"fmt"
	"time"
)

// MaxStatus is the size of a status message in bytes.
const MaxStatus = 8 << 10

// Presence is a kiosk's state.
type Presence string

// The words of presence (those of the Homie convention).
const (
	PresenceInit         Presence = "init"         // connected, not ready yet
	PresenceReady        Presence = "ready"        // working
	PresenceDisconnected Presence = "disconnected" // said goodbye
	PresenceSleeping     Presence = "sleeping"     // asleep on purpose
	PresenceLost         Presence = "lost"         // gone without a goodbye: the will
	PresenceAlert        Presence = "alert"        // needs a person
)

// Status is a kiosk's presence, retained on its status topic. A will carries only the state, the session's number and
// the boot id.
type Status struct {
	State      Presence `json:"state"`
	SessionSeq uint64   `json:"session_seq"` // up by one at each connection, so that a late will can be told from the present
	BootID     string   `json:"boot_id"`
	// TS is when the status was made, by the kiosk's clock; zero in a will.
	TS          time.Time `json:"ts,omitzero"`
	Version     string    `json:"version,omitempty"`      // of the software, ≤ 64 bytes
	StreamID    string    `json:"stream_id,omitempty"`    // the outbox's present stream
	OutboxDepth uint64    `json:"outbox_depth,omitempty"` // events not yet acknowledged
	AckedSeq    uint64    `json:"last_acked_seq,omitempty"`
	FreeBytes   uint64    `json:"free_bytes,omitempty"` // of the disk the outbox is on
	Degraded    string    `json:"degraded,omitempty"`   // what is wrong with the store, ≤ 256 bytes; empty when nothing is
	Health      Health    `json:"health,omitzero"`
}

// Encode returns the status's bytes, or what is wrong with it.
func (s Status) Encode() ([]byte, error) {
	s.TS, s.Health.CertUntil = s.TS.Round(0).UTC(), s.Health.CertUntil.Round(0).UTC()
	if err := s.Validate(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	return b, nil
}

// DecodeStatus reads a status and refuses what does not hold to its limits. Unknown fields are passed over: a newer
// kiosk may say more about itself than this hub reads.
func DecodeStatus(b []byte) (Status, error) {
	if len(b) > MaxStatus {
		return Status{}, fmt.Errorf("status of %d bytes, at most %d: %w", len(b), MaxStatus, ErrTooLarge)
	}
	var s Status
	if err := json.Unmarshal(b, &s); err != nil {
		return Status{}, fmt.Errorf("status: %w: %w", ErrInvalid, err)
	}
	if err := s.Validate(); err != nil {
		return Status{}, err
	}
	return s, nil
}

// Validate says what is wrong with the status, if anything.
func (s Status) Validate() error {
	switch s.State {
	case PresenceInit, PresenceReady, PresenceDisconnected, PresenceSleeping, PresenceLost, PresenceAlert:
	default:
		return fmt.Errorf("status state: %w", ErrInvalid)
	}
	if s.SessionSeq > MaxSeq || s.AckedSeq > MaxSeq || s.OutboxDepth > MaxSeq || s.FreeBytes > 1<<62 {
		return fmt.Errorf("status number out of range: %w", ErrInvalid)
	}
	if !validUUID(s.BootID) {
		return fmt.Errorf("status boot_id is no UUID: %w", ErrInvalid)
	}
	if s.StreamID != "" && !validUUIDv7(s.StreamID) {
		return fmt.Errorf("status stream_id is no UUIDv7: %w", ErrInvalid)
	}
	if y := s.TS.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("status ts in year %d: %w", y, ErrInvalid)
	}
	if len(s.Version) > 64 || len(s.Degraded) > 256 {
		return fmt.Errorf("status text: %w", ErrTooLarge)
	}
	if err := s.Health.Validate(); err != nil {
		return fmt.Errorf("status: %w", err)
	}
	return nil
}
