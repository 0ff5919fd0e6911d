package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const ackStream = "0192f0c1-2345-7abc-8def-0123456789ab"

func TestAckRoundTrip(t *testing.T) {
	want := Ack{StreamID: ackStream, AckedSeq: 7, AckedHash: strings.Repeat("0f", 32), Missing: []Range{{8, 8}, {10, 12}}}
	b, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeAck(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := `{"stream_id":"` + ackStream + `","acked_seq":0}`; true {
		b, err := Ack{StreamID: ackStream}.Encode()
		if err != nil || string(b) != got {
			t.Errorf("smallest ack is %s, %v", b, err)
		}
	}
}

func TestDecodeAckRefuses(t *testing.T) {
	tests := []struct {
		name  string
		bytes string
		want  error
	}{
		{"nothing", ``, ErrInvalid},
		{"no stream", `{"acked_seq":1}`, ErrInvalid},
		{"negative", `{"stream_id":"` + ackStream + `","acked_seq":-1}`, ErrInvalid},
		{"over 2⁵³", `{"stream_id":"` + ackStream + `","acked_seq":9007199254740992}`, ErrInvalid},
		{"hash", `{"stream_id":"` + ackStream + `","acked_seq":1,"acked_hash":"x"}`, ErrInvalid},
		{"missing below acked", `{"stream_id":"` + ackStream + `","acked_seq":5,"missing":[[5,6]]}`, ErrInvalid},
		{"missing backwards", `{"stream_id":"` + ackStream + `","acked_seq":5,"missing":[[8,7]]}`, ErrInvalid},
		{"missing overlaps", `{"stream_id":"` + ackStream + `","acked_seq":5,"missing":[[7,9],[9,10]]}`, ErrInvalid},
		{"missing of three", `{"stream_id":"` + ackStream + `","acked_seq":5,"missing":[[7,9,"x"]]}`, nil},
		{"too many ranges", `{"stream_id":"` + ackStream + `","acked_seq":5,"missing":[` + strings.Repeat("[7,9],", MaxRanges) + `[7,9]]}`, ErrTooLarge},
		{"too large", strings.Repeat(" ", MaxAck+1), ErrTooLarge},
		{"unknown field", `{"stream_id":"` + ackStream + `","acked_seq":5,"x":1}`, ErrInvalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := DecodeAck([]byte(tt.bytes))
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// FuzzDecodeAck: whatever is accepted holds to the limits and encodes to what decodes the same.
func FuzzDecodeAck(f *testing.F) {
	f.Add([]byte(`{"stream_id":"` + ackStream + `","acked_seq":5,"missing":[[7,9]]}`))
	f.Add([]byte(`{"stream_id":"` + ackStream + `","acked_seq":5,"missing":[[],[1]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := DecodeAck(b)
		if err != nil {
			return
		}
		out, err := a.Encode()
		if err != nil {
			t.Fatalf("accepted but cannot be encoded: %v", err)
		}
		again, err := DecodeAck(out)
		if err != nil {
			t.Fatalf("own encoding is refused: %v", err)
		}
		if len(a.Missing) == 0 {
			a.Missing, again.Missing = nil, nil
		}
		if diff := cmp.Diff(a, again); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}
