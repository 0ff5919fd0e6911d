package wire

import (
	"encoding/json"
	"fmt"
)

// Limits of an acknowledgement.
const (
	MaxAck    = 16 << 10 // bytes
	MaxRanges = 128      // ranges in Missing
	// MaxRefused is how many numbers are in Refused.
	MaxRefused = 64
)

// Ack is the hub's answer: it has everything of the stream up to AckedSeq, and of what came after it lacks Missing.
// Only an Ack allows a kiosk to forget an event.
type Ack struct {
	StreamID string `json:"stream_id"`
	AckedSeq uint64 `json:"acked_seq"`
	// AckedHash is the hash of event AckedSeq as the hub has it, empty when it has none. As each event holds the hash
	// of the one before, it stands for all of them: a kiosk whose own differs does not forget anything.
	AckedHash string  `json:"acked_hash,omitempty"`
	Missing   []Range `json:"missing,omitempty"` // ascending, disjoint, all above AckedSeq; the lowest MaxRanges of them
	// Refused are events that have just come and that the hub will not take: they are in its quarantine. The highest
	// MaxRefused of them, ascending.
	Refused []uint64 `json:"refused,omitempty"`
}

// Encode returns the acknowledgement's bytes, or what is wrong with it.
func (a Ack) Encode() ([]byte, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encode ack: %w", err)
	}
	return b, nil
}

// DecodeAck reads an acknowledgement and refuses what does not hold to its limits.
func DecodeAck(b []byte) (Ack, error) {
	if len(b) > MaxAck {
		return Ack{}, fmt.Errorf("ack of %d bytes, at most %d: %w", len(b), MaxAck, ErrTooLarge)
	}
	var a Ack
	if err := decodeStrict(b, &a); err != nil {
		return Ack{}, fmt.Errorf("ack: %w", err)
	}
	if err := a.Validate(); err != nil {
		return Ack{}, err
	}
	return a, nil
}

// Validate says what is wrong with the acknowledgement, if anything.
func (a Ack) Validate() error {
	if !validUUIDv7(a.StreamID) {
		return fmt.Errorf("ack stream_id is no UUIDv7: %w", ErrInvalid)
	}
	if a.AckedSeq > MaxSeq {
		return fmt.Errorf("ack acked_seq %d: %w", a.AckedSeq, ErrInvalid)
	}
	if a.AckedHash != "" && !validHash(a.AckedHash) {
		return fmt.Errorf("ack acked_hash: %w", ErrInvalid)
	}
	if len(a.Missing) > MaxRanges {
		return fmt.Errorf("ack with %d missing ranges, at most %d: %w", len(a.Missing), MaxRanges, ErrTooLarge)
	}
	last := a.AckedSeq
	for _, r := range a.Missing {
		if r[0] <= last || r[1] < r[0] || r[1] > MaxSeq {
			return fmt.Errorf("ack missing range %d…%d: %w", r[0], r[1], ErrInvalid)
		}
		last = r[1]
	}
	if len(a.Refused) > MaxRefused {
		return fmt.Errorf("ack with %d refused events, at most %d: %w", len(a.Refused), MaxRefused, ErrTooLarge)
	}
	for i, seq := range a.Refused {
		if seq < 1 || seq > MaxSeq || i > 0 && seq <= a.Refused[i-1] {
			return fmt.Errorf("ack refused event %d: %w", seq, ErrInvalid)
		}
	}
	return nil
}
