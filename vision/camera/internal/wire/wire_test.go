package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// heap is room for a frame in ordinary memory.
func heap(width, height, channels int) ([]byte, error) {
	return make([]byte, width*height*channels), nil
}

// conversation is a message of each kind, as a Writer writes them.
func conversation(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b)
	pixels := bytes.Repeat([]byte{1, 2, 3}, 16*20)
	for _, err := range []error{
		w.Signal(Opening), w.Signal(Waiting), w.Frame(16, 20, 3, pixels), w.Frame(40, 24, 1, pixels), w.Fail("unplugged: 拔出"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestMessagesArriveAsWritten(t *testing.T) {
	r := NewReader(iotestHalves{bytes.NewReader(conversation(t))})
	var got []Message
	var pixels []byte
	for {
		m, err := r.Next(func(w, h, c int) ([]byte, error) {
			pixels = make([]byte, w*h*c)
			return pixels, nil
		})
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if m.Kind == Frame && !bytes.Equal(pixels, bytes.Repeat([]byte{1, 2, 3}, 16*20)) {
			t.Errorf("pixels of %+v differ", m)
		}
		got = append(got, m)
	}
	want := []Message{
		{Kind: Opening}, {Kind: Waiting}, {Kind: Frame, Width: 16, Height: 20, Channels: 3},
		{Kind: Frame, Width: 40, Height: 24, Channels: 1}, {Kind: Failed, Text: "unplugged: 拔出"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("messages (-want +got)\n%s", d)
	}
}

// iotestHalves reads a few bytes at a time, as pipes do.
type iotestHalves struct{ r io.Reader }

func (h iotestHalves) Read(p []byte) (int, error) { return h.r.Read(p[:min(len(p), 7)]) }

// TestEveryChangedByteIsNoticed changes each byte of a conversation in turn.
func TestEveryChangedByteIsNoticed(t *testing.T) {
	whole := conversation(t)
	for i := range whole {
		for _, flip := range []byte{1, 0x80} {
			spoilt := bytes.Clone(whole)
			spoilt[i] ^= flip
			r := NewReader(bytes.NewReader(spoilt))
			var err error
			for err == nil {
				_, err = r.Next(heap)
			}
			if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("byte %d changed by %#x: nobody noticed", i, flip)
			}
		}
	}
}

func TestCutStreamIsNoEnd(t *testing.T) {
	whole := conversation(t)
	ends := map[int]bool{}
	r := NewReader(bytes.NewReader(whole))
	counted := 0
	for {
		m, err := r.Next(heap)
		if err != nil {
			break
		}
		counted += headSize + m.Width*m.Height*m.Channels + len(m.Text)
		ends[counted] = true
	}
	for n := 1; n < len(whole); n++ {
		r := NewReader(bytes.NewReader(whole[:n]))
		var err error
		for err == nil {
			_, err = r.Next(heap)
		}
		if atEnd := err == io.EOF; atEnd != ends[n] {
			t.Errorf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestWriterRefusesWhatNoReaderTakes(t *testing.T) {
	w := NewWriter(io.Discard)
	for name, write := range map[string]func() error{
		"too small":        func() error { return w.Frame(15, 100, 1, make([]byte, 1500)) },
		"too wide":         func() error { return w.Frame(MaxSide+1, 16, 1, make([]byte, (MaxSide+1)*16)) },
		"two channels":     func() error { return w.Frame(16, 16, 2, make([]byte, 512)) },
		"pixels that lack": func() error { return w.Frame(16, 16, 3, make([]byte, 16*16*3-1)) },
	} {
		if err := write(); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLongFailureIsCut(t *testing.T) {
	for _, text := range []string{strings.Repeat("相机", 2000), strings.Repeat("x", 5000), "broken \xff\xfe bytes", ""} {
		var b bytes.Buffer
		if err := NewWriter(&b).Fail(text); err != nil {
			t.Fatal(err)
		}
		m, err := NewReader(&b).Next(heap)
		if err != nil {
			t.Fatalf("%.20q: %v", text, err)
		}
		if len(m.Text) > MaxText || !utf8.ValidString(m.Text) || (text != "") != (m.Text != "") {
			t.Errorf("%.20q arrived as %q", text, m.Text)
		}
	}
}

// FuzzReader feeds a reader with anything: it must end in an error, and never ask for more room than the limits allow.
func FuzzReader(f *testing.F) {
	whole := conversation(f)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte{})
	f.Add([]byte("DCM1\x03\x03\xff\xff\xff\xff\x01\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		for {
			m, err := r.Next(func(w, h, c int) ([]byte, error) {
				if w > MaxSide || h > MaxSide || c > 3 {
					t.Fatalf("asked for room for %d × %d × %d", w, h, c)
				}
				return heap(w, h, c)
			})
			if err != nil {
				return
			}
			if len(m.Text) > MaxText {
				t.Fatalf("text of %d bytes", len(m.Text))
			}
		}
	})
}
