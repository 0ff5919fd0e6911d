package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sample returns a valid event.
func sample() Event {
	return Event{
		Schema: 1, KioskID: "kiosk-1",
		StreamID: "0192f0c1-2345-7abc-8def-0123456789ab", Seq: 2,
		EventID: "0192f0c1-2346-7abc-8def-0123456789ab",
		TSWall:  time.Date(2026, 5, 4, 12, 30, 15, 120_000_000, time.FixedZone("", 8*3600)), TSMonoMS: 123456,
		BootID: "b1b2b3b4-1111-4222-8333-444455556666", ClockSynced: true,
		Type: "exhibit.seen", Data: json.RawMessage(`{ "visit": "v1", "note": "<b>鼎</b>" }`),
		PrevHash: strings.Repeat("ab", 32),
	}
}

func TestEventEncodesCanonically(t *testing.T) {
	got, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":1,"kiosk_id":"kiosk-1","stream_id":"0192f0c1-2345-7abc-8def-0123456789ab","seq":2,` +
		`"event_id":"0192f0c1-2346-7abc-8def-0123456789ab","ts_wall":"2026-05-04T04:30:15.12Z","ts_mono_ms":123456,` +
		`"boot_id":"b1b2b3b4-1111-4222-8333-444455556666","clock_synced":true,"type":"exhibit.seen",` +
		`"data":{"visit":"v1","note":"<b>鼎</b>"},"prev_hash":"` + strings.Repeat("ab", 32) + `"}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("canonical bytes (-want +got):\n%s", diff)
	}
	if prev, ok := PrevHash(got); !ok || prev != strings.Repeat("ab", 32) {
		t.Errorf("PrevHash = %q, %v", prev, ok)
	}
}

func TestEventReadsBackFromLooseBytes(t *testing.T) {
	want, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(want, &fields); err != nil {
		t.Fatal(err)
	}
	loose, err := json.MarshalIndent(fields, "", "  ") // other order, white space, HTML escapes
	if err != nil {
		t.Fatal(err)
	}
	// The data's own members come out in the order of the map, so only the envelope is compared through it.
	e, err := DecodeEvent(loose)
	if err != nil {
		t.Fatal(err)
	}
	if e.Seq != 2 || e.Type != "exhibit.seen" || !e.TSWall.Equal(sample().TSWall) || bytes.ContainsAny(e.Data, " \n") {
		t.Errorf("decoded event is %+v", e)
	}
	again, err := DecodeEvent(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("canonical bytes changed on the way (-want +got):\n%s", diff)
	}
}

func TestEventRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Event)
		want   error
	}{
		{"schema of tomorrow", func(e *Event) { e.Schema = 2 }, ErrSchema},
		{"no schema", func(e *Event) { e.Schema = 0 }, ErrSchema},
		{"kiosk in capitals", func(e *Event) { e.KioskID = "Kiosk" }, ErrInvalid},
		{"kiosk with a slash", func(e *Event) { e.KioskID = "a/b" }, ErrInvalid},
		{"stream is version 4", func(e *Event) { e.StreamID = "0192f0c1-2345-4abc-8def-0123456789ab" }, ErrInvalid},
		{"stream in capitals", func(e *Event) { e.StreamID = strings.ToUpper(e.StreamID) }, ErrInvalid},
		{"stream in braces", func(e *Event) { e.StreamID = "{" + e.StreamID + "}" }, ErrInvalid},
		{"seq 0", func(e *Event) { e.Seq, e.PrevHash = 0, "" }, ErrInvalid},
		{"seq over 2⁵³", func(e *Event) { e.Seq = MaxSeq + 1 }, ErrInvalid},
		{"event id missing", func(e *Event) { e.EventID = "" }, ErrInvalid},
		{"year 10000", func(e *Event) { e.TSWall = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, ErrInvalid},
		{"mono before boot", func(e *Event) { e.TSMonoMS = -1 }, ErrInvalid},
		{"boot id is no UUID", func(e *Event) { e.BootID = "boot" }, ErrInvalid},
		{"type empty", func(e *Event) { e.Type = "" }, ErrInvalid},
		{"type in capitals", func(e *Event) { e.Type = "Exhibit" }, ErrInvalid},
		{"type ends with a dot", func(e *Event) { e.Type = "exhibit." }, ErrInvalid},
		{"type begins with a digit", func(e *Event) { e.Type = "1.a" }, ErrInvalid},
		{"type too long", func(e *Event) { e.Type = strings.Repeat("a", MaxType+1) }, ErrInvalid},
		{"data is a list", func(e *Event) { e.Data = json.RawMessage(`[]`) }, ErrInvalid},
		{"data missing", func(e *Event) { e.Data = nil }, ErrInvalid},
		{"data cut off", func(e *Event) { e.Data = json.RawMessage(`{"a":`) }, ErrInvalid},
		{"data too large", func(e *Event) { e.Data = json.RawMessage(`{"a":"` + strings.Repeat("x", MaxData) + `"}`) }, ErrTooLarge},
		{"first event with a hash", func(e *Event) { e.Seq = 1 }, ErrInvalid},
		{"second event without", func(e *Event) { e.PrevHash = "" }, ErrInvalid},
		{"hash in capitals", func(e *Event) { e.PrevHash = strings.Repeat("AB", 32) }, ErrInvalid},
		{"hash too short", func(e *Event) { e.PrevHash = "ab" }, ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := sample()
			tt.change(&e)
			if _, err := e.Encode(); !errors.Is(err, tt.want) {
				t.Errorf("Encode: %v, want %v", err, tt.want)
			}
			b, err := json.Marshal(e)
			if err != nil {
				return // cannot even be written
			}
			if _, err := DecodeEvent(b); !errors.Is(err, tt.want) {
				t.Errorf("DecodeEvent: %v, want %v", err, tt.want)
			}
		})
	}
}

func TestDecodeEventRefusesBytes(t *testing.T) {
	good, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		bytes string
		want  error
	}{
		{"nothing", "", ErrInvalid},
		{"null", "null", ErrInvalid},
		{"a list", "[]", ErrInvalid},
		{"cut off", string(good[:len(good)-3]), ErrInvalid},
		{"two values", string(good) + string(good), ErrInvalid},
		{"unknown field", `{"more":1,` + string(good[1:]), ErrInvalid},
		{"not UTF-8", strings.Replace(string(good), "鼎", "\xff", 1), ErrInvalid},
		{"newer schema with a new field", `{"schema":2,"more":1}`, ErrSchema},
		{"seq is a text", strings.Replace(string(good), `"seq":2`, `"seq":"2"`, 1), ErrInvalid},
		{"seq is negative", strings.Replace(string(good), `"seq":2`, `"seq":-2`, 1), ErrInvalid},
		{"seq is a fraction", strings.Replace(string(good), `"seq":2`, `"seq":2.5`, 1), ErrInvalid},
		{"too large", string(good) + strings.Repeat(" ", MaxEvent), ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := DecodeEvent([]byte(tt.bytes)); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestSplitBatch(t *testing.T) {
	one, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, one, "", " "); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		payload []byte
		want    int
	}{
		{"one event", one, 1},
		{"three events", JoinBatch([][]byte{one, one, one}), 3},
		{"three events and a line end", append(JoinBatch([][]byte{one, one, one}), '\n'), 3},
		{"one event over many lines", pretty.Bytes(), 1},
		{"an empty line between", []byte(string(one) + "\n\n" + string(one)), 3},
		{"nothing", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := SplitBatch(tt.payload)
			if err != nil || len(got) != tt.want {
				t.Errorf("got %d parts, %v; want %d", len(got), err, tt.want)
			}
		})
	}
	for name, payload := range map[string][]byte{
		"too many events": bytes.Repeat([]byte("{}\n"), MaxBatch+1),
		"too many bytes":  bytes.Repeat([]byte("x"), MaxPayload+1),
	} {
		if _, err := SplitBatch(payload); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v, want ErrTooLarge", name, err)
		}
	}
}

func TestNewIDIsUUIDv7OfItsTime(t *testing.T) {
	at := time.UnixMilli(0x0192f0c12345)
	id, err := NewID(at, bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	if err != nil {
		t.Fatal(err)
	}
	if want := "0192f0c1-2345-7fff-bfff-ffffffffffff"; id != want {
		t.Errorf("got %s, want %s", id, want)
	}
	if !validUUIDv7(id) {
		t.Errorf("%s is not accepted as a UUIDv7", id)
	}
	if _, err := NewID(at, bytes.NewReader(nil)); err == nil {
		t.Error("an id was made without randomness")
	}
	early, err := NewID(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC), bytes.NewReader(make([]byte, 10)))
	if err != nil || !validUUIDv7(early) {
		t.Errorf("a clock before 1970 gives %q, %v", early, err)
	}
}

// FuzzDecodeEvent: whatever is accepted can be encoded, and encoding is a fixed point.
func FuzzDecodeEvent(f *testing.F) {
	good, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":1}`))
	f.Add([]byte(`{"Schema":1,"SEQ":1,"data":{"a":{"a":[1e400]}}}`))
	f.Add(bytes.Replace(good, []byte("鼎"), []byte(`\ud800\u0000`), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEvent(b)
		if err != nil {
			return
		}
		once, err := e.Encode()
		if err != nil {
			t.Fatalf("accepted but cannot be encoded: %v", err)
		}
		again, err := DecodeEvent(once)
		if err != nil {
			t.Fatalf("canonical bytes are refused: %v", err)
		}
		twice, err := again.Encode()
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("canonical bytes change: %q, %q, %v", once, twice, err)
		}
		if bytes.ContainsRune(once, '\n') {
			t.Fatalf("canonical bytes hold a line end: %q", once)
		}
		if prev, ok := PrevHash(once); !ok || prev != e.PrevHash {
			t.Fatalf("PrevHash reads %q, %v from %q", prev, ok, once)
		}
	})
}

// FuzzSplitBatch: parts are within bounds and together no longer than the payload.
func FuzzSplitBatch(f *testing.F) {
	f.Add([]byte("{}\n{}"))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		parts, err := SplitBatch(b)
		if err != nil {
			return
		}
		n := 0
		for _, p := range parts {
			n += len(p)
		}
		if len(parts) == 0 || len(parts) > MaxBatch || n > len(b) {
			t.Fatalf("%d parts of %d bytes from %d", len(parts), n, len(b))
		}
	})
}
