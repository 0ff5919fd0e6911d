package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// byLibrary is the canonical form as encoding/json writes it: the one that must hold for ever.
func byLibrary(t testing.TB, e Event) []byte {
	t.Helper()
	e.TSWall = e.TSWall.Round(0).UTC()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

func TestReadEvent(t *testing.T) {
	good, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name      string
		from, to  string
		canonical bool
	}{
		{"canonical", "", "", true},
		{"no fraction of a second", "15.12Z", "15Z", true},
		{"empty data", `{"visit":"v1","note":"<b>鼎</b>"}`, `{}`, true},
		{"escapes in data", "鼎", `\u9f0e\"\\`, true},
		{"the last field's name in data", "鼎", `,\"prev_hash\":\"`, true},
		{"white space in a text", "鼎", "a b", true},
		{"first event", `"seq":2`, `"seq":1`, false}, // with a hash: refused
		{"white space", `,"seq"`, `, "seq"`, false},
		{"white space in data", `,"note"`, ` ,"note"`, false},
		{"time with a needless digit", "15.12Z", "15.120Z", false},
		{"time elsewhere", "04:30:15.12Z", "05:30:15.12+01:00", false},
		{"field escaped", `"kiosk-1"`, `"kiosk\u002d1"`, false},
		{"field twice", `"data":{`, `"data":{},"data":{`, false},
		{"other order", `"clock_synced":true,"type":"exhibit.seen"`, `"type":"exhibit.seen","clock_synced":true`, false},
		{"field more", `"data":{`, `"more":1,"data":{`, false},
		{"bytes after it", `"}`, `"}x`, false},
		{"half a number", `"seq":2`, `"seq":2.0`, false},
		{"number with a plus", `"ts_mono_ms":123456`, `"ts_mono_ms":+123456`, false},
		{"nothing but the last field", string(good), `,"prev_hash":"}`, false},
		{"nothing", string(good), "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := []byte(strings.Replace(string(good), tt.from, tt.to, 1))
			if tt.from == `"}` {
				b = append(bytes.Clone(good), 'x')
			}
			if _, ok := readCanonical(b); ok != tt.canonical {
				t.Fatalf("read as canonical: %v, want %v", ok, tt.canonical)
			}
			compare(t, b)
		})
	}
}

// compare holds ReadEvent against DecodeEvent and encoding/json.
func compare(t *testing.T, b []byte) {
	t.Helper()
	e, canonical, err := ReadEvent(b)
	want, wantErr := DecodeEvent(b)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("ReadEvent says %v, DecodeEvent %v of %q", err, wantErr, b)
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Fatalf("event (-DecodeEvent +ReadEvent):\n%s", diff)
	}
	if diff := cmp.Diff(string(byLibrary(t, want)), string(canonical)); diff != "" {
		t.Fatalf("canonical bytes (-encoding/json +ours):\n%s", diff)
	}
}

func TestDataNestedTooDeep(t *testing.T) {
	e := sample()
	e.Data = json.RawMessage(`{"a":` + strings.Repeat("[", MaxDepth-1) + `"]}"` + strings.Repeat("]", MaxDepth-1) + `}`)
	if _, err := e.Encode(); err != nil {
		t.Errorf("as deep as allowed: %v", err)
	}
	e.Data = json.RawMessage(`{"a":` + string(e.Data) + `}`)
	if _, err := e.Encode(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("deeper: %v", err)
	}
}

// FuzzReadEvent: the quick way takes and makes of all bytes what the library does.
func FuzzReadEvent(f *testing.F) {
	good, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(bytes.Replace(good, []byte(`"data":{`), []byte(`"data":{},"prev_hash":"","data":{`), 1))
	f.Add(bytes.Replace(good, []byte("鼎"), []byte(`\ud800\u2028<>&`), 1))
	f.Add(bytes.Replace(good, []byte("鼎"), []byte("\u2028\u2029\x7f"), 1))
	f.Add(bytes.Replace(good, []byte(`"v1"`), []byte(`[1e400,-0,1.50,true,null,{}]`), 1))
	f.Add([]byte(`{"schema":1,"kiosk_id":"`))
	f.Fuzz(compare)
}

func BenchmarkReadEvent(b *testing.B) {
	good, err := sample().Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ReadEvent(good); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeAndEncode(b *testing.B) {
	good, err := sample().Encode()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e, err := DecodeEvent(good)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := e.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}
