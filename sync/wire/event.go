// Package wire is what travels between kiosk and hub: topics, event envelopes, acknowledgements and presence. It
// decodes bytes that come from outside, so everything in it is bounded and checked, and it imports nothing of ours.
package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// Schema is the version of the envelope.
const Schema = 1

// Limits of an event. A payload is what one MQTT message holds: one event, or several of them one a line. 128 KiB
// passes every broker we mean to run on (NATS closes the connection at 1 MiB unless told otherwise).
const (
	MaxData    = 64 << 10  // bytes of an event's data
	MaxEvent   = 128 << 10 // bytes of an encoded event
	MaxPayload = 128 << 10 // bytes of one MQTT message
	MaxBatch   = 512       // events in one MQTT message
	MaxType    = 64        // bytes of an event's type
	MaxSeq     = 1<<53 - 1 // the largest integer every JSON reader keeps whole
)

// Errors of decoding and encoding. They wrap no other error of ours; the text after them says which field.
var (
	ErrTooLarge = errors.New("too large")
	ErrSchema   = errors.New("unknown schema version")
	ErrInvalid  = errors.New("invalid")
)

// Event is the envelope of one memory event. Seq starts at 1 and has no gap within a stream; PrevHash is the
// SHA-256 of the envelope before it (hex, empty for the first).
type Event struct {
	Schema      int             `json:"schema"`
	KioskID     string          `json:"kiosk_id"`
	StreamID    string          `json:"stream_id"`  // UUIDv7, new whenever the kiosk's store is new
	Seq         uint64          `json:"seq"`        // 1 … MaxSeq
	EventID     string          `json:"event_id"`   // UUIDv7
	TSWall      time.Time       `json:"ts_wall"`    // UTC
	TSMonoMS    int64           `json:"ts_mono_ms"` // since boot
	BootID      string          `json:"boot_id"`    // UUID
	ClockSynced bool            `json:"clock_synced"`
	Type        string          `json:"type"`
	Data        json.RawMessage `json:"data"` // a JSON object
	PrevHash    string          `json:"prev_hash"`
}

// Range is an inclusive range of sequence numbers.
type Range [2]uint64

// Encode returns the event's canonical bytes: the fields in the order of [Event], no white space, the time in UTC, no
// HTML escapes. The hash chain is over these bytes. It refuses an event that DecodeEvent would refuse.
func (e Event) Encode() ([]byte, error) {
	e.TSWall = e.TSWall.Round(0).UTC()
	if err := e.Validate(); err != nil {
		return nil, err
	}
	b, err := e.appendCanonical(make([]byte, 0, len(e.Data)+512)) // the envelope is 300 to 450 bytes
	if err != nil {
		return nil, err
	}
	if len(b) > MaxEvent {
		return nil, fmt.Errorf("event of %d bytes, at most %d: %w", len(b), MaxEvent, ErrTooLarge)
	}
	return b, nil
}

// DecodeEvent reads one envelope. The bytes need not be canonical; unknown fields, trailing bytes and every value out
// of its range are refused with ErrTooLarge, ErrSchema or ErrInvalid.
func DecodeEvent(b []byte) (Event, error) {
	if len(b) > MaxEvent {
		return Event{}, fmt.Errorf("event of %d bytes, at most %d: %w", len(b), MaxEvent, ErrTooLarge)
	}
	var e Event
	if err := decodeStrict(b, &e); err != nil {
		if v := schemaOf(b); v != Schema { // a newer envelope may have fields that this one lacks
			return Event{}, fmt.Errorf("event schema %d: %w", v, ErrSchema)
		}
		return Event{}, fmt.Errorf("event: %w", err)
	}
	var data bytes.Buffer
	if err := json.Compact(&data, e.Data); err != nil {
		return Event{}, fmt.Errorf("event data: %w: %w", ErrInvalid, err)
	}
	e.Data = data.Bytes()
	e.TSWall = e.TSWall.UTC()
	if err := e.Validate(); err != nil {
		return Event{}, err
	}
	return e, nil
}

// Validate says what is wrong with the event, if anything.
func (e Event) Validate() error {
	if e.Schema != Schema {
		return fmt.Errorf("event schema %d: %w", e.Schema, ErrSchema)
	}
	if err := ValidName(e.KioskID); err != nil {
		return fmt.Errorf("event kiosk_id: %w", err)
	}
	if !validUUIDv7(e.StreamID) {
		return fmt.Errorf("event stream_id is no UUIDv7: %w", ErrInvalid)
	}
	if e.Seq < 1 || e.Seq > MaxSeq {
		return fmt.Errorf("event seq %d is not in 1…%d: %w", e.Seq, uint64(MaxSeq), ErrInvalid)
	}
	if !validUUIDv7(e.EventID) {
		return fmt.Errorf("event event_id is no UUIDv7: %w", ErrInvalid)
	}
	if y := e.TSWall.Year(); y < 1 || y > 9999 {
		return fmt.Errorf("event ts_wall in year %d: %w", y, ErrInvalid)
	}
	if e.TSMonoMS < 0 {
		return fmt.Errorf("event ts_mono_ms is negative: %w", ErrInvalid)
	}
	if !validUUID(e.BootID) {
		return fmt.Errorf("event boot_id is no UUID: %w", ErrInvalid)
	}
	if !validType(e.Type) {
		return fmt.Errorf("event type is not of the form word.word: %w", ErrInvalid)
	}
	if len(e.Data) > MaxData {
		return fmt.Errorf("event data of %d bytes, at most %d: %w", len(e.Data), MaxData, ErrTooLarge)
	}
	if !validObject(e.Data) {
		return fmt.Errorf("event data is no JSON object: %w", ErrInvalid)
	}
	if n := depth(e.Data); n > MaxDepth {
		return fmt.Errorf("event data is nested %d deep, at most %d: %w", n, MaxDepth, ErrTooLarge)
	}
	if (e.Seq == 1) != (e.PrevHash == "") || (e.PrevHash != "" && !validHash(e.PrevHash)) {
		return fmt.Errorf("event prev_hash does not fit seq %d: %w", e.Seq, ErrInvalid)
	}
	return nil
}

// Hash is the SHA-256 of an event's canonical bytes in hex: what the next event's PrevHash holds.
func Hash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}

// Identify reads stream and number of an envelope that cannot be decoded, so that its kiosk can be told. It is false
// where they are not to be found.
func Identify(b []byte) (streamID string, seq uint64, ok bool) {
	if len(b) > MaxEvent {
		return "", 0, false
	}
	var e struct {
		StreamID string `json:"stream_id"`
		Seq      uint64 `json:"seq"`
	}
	if json.Unmarshal(b, &e) != nil || !validUUIDv7(e.StreamID) || e.Seq < 1 || e.Seq > MaxSeq {
		return "", 0, false
	}
	return e.StreamID, e.Seq, true
}

// JoinBatch puts encoded events into one payload, one a line. The caller keeps to MaxPayload and MaxBatch.
func JoinBatch(events [][]byte) []byte { return bytes.Join(events, []byte("\n")) }

// SplitBatch takes a payload apart into encoded events, which it does not decode. The parts share the payload's memory.
func SplitBatch(payload []byte) ([][]byte, error) {
	if len(payload) > MaxPayload {
		return nil, fmt.Errorf("payload of %d bytes, at most %d: %w", len(payload), MaxPayload, ErrTooLarge)
	}
	lines := bytes.Split(bytes.TrimSuffix(payload, []byte("\n")), []byte("\n"))
	if len(lines) > 1 && json.Valid(payload) { // one event, spread over lines by whoever wrote it
		return [][]byte{payload}, nil
	}
	if len(lines) > MaxBatch {
		return nil, fmt.Errorf("payload of %d events, at most %d: %w", len(lines), MaxBatch, ErrTooLarge)
	}
	return lines, nil
}

// decodeStrict reads exactly one JSON value with known fields only.
func decodeStrict(b []byte, v any) error {
	if !utf8.Valid(b) {
		return fmt.Errorf("not UTF-8: %w", ErrInvalid)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(bytes.TrimSpace(b[dec.InputOffset():])) > 0 {
		return fmt.Errorf("bytes after the value: %w", ErrInvalid)
	}
	return nil
}

// schemaOf reads the schema of an envelope of any version; bytes that hold none count as of this one.
func schemaOf(b []byte) int {
	e := struct{ Schema int }{Schema}
	if json.Unmarshal(b, &e) != nil {
		return Schema
	}
	return e.Schema
}

func validObject(b []byte) bool {
	b = bytes.TrimSpace(b)
	return len(b) >= 2 && b[0] == '{' && json.Valid(b)
}

func validHash(s string) bool { return len(s) == 2*sha256.Size && lowerHex(s) }

func lowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// validType accepts lower-case words of letters, digits and underscores joined by dots, each starting with a letter.
func validType(s string) bool {
	if len(s) == 0 || len(s) > MaxType {
		return false
	}
	start := true
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
			start = false
		case !start && (c >= '0' && c <= '9' || c == '_'):
		case !start && c == '.':
			start = true
		default:
			return false
		}
	}
	return !start
}

// PrevHash reads prev_hash off the end of canonical bytes without decoding them, which makes checking the chain of a
// long outbox cheap. It is false for bytes that do not end as an envelope does.
func PrevHash(canonical []byte) (string, bool) {
	const field, end = `,"prev_hash":"`, `"}`
	b, ok := bytes.CutSuffix(canonical, []byte(end))
	if !ok {
		return "", false
	}
	i := bytes.LastIndex(b, []byte(field))
	if i < 0 {
		return "", false
	}
	hash := string(b[i+len(field):])
	return hash, hash == "" || validHash(hash)
}
