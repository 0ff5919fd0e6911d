package link

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// packet is an MQTT packet of a type with a body of n bytes.
func packet(kind byte, n int) []byte {
	b := []byte{kind}
	for rest := n; ; {
		digit := byte(rest % 128)
		if rest /= 128; rest > 0 {
			b = append(b, digit|0x80)
			continue
		}
		b = append(b, digit)
		break
	}
	return append(b, make([]byte, n)...)
}

func TestLimitedConnLetsPacketsThroughInAnyPieces(t *testing.T) {
	var stream []byte
	for _, n := range []int{0, 2, 127, 128, 20_000, maxPacket, 0} {
		stream = append(stream, packet(0x30, n)...)
	}
	for _, piece := range []int{1, 2, 3, 1000, len(stream)} {
		c := &limitedConn{}
		for b := stream; len(b) > 0; {
			n := min(piece, len(b))
			if err := c.follow(b[:n]); err != nil {
				t.Fatalf("pieces of %d: %v", piece, err)
			}
			b = b[n:]
		}
		if c.header != 0 || c.body != 0 {
			t.Errorf("pieces of %d: the end is not the end of a packet", piece)
		}
	}
}

func TestLimitedConnCutsLongPackets(t *testing.T) {
	for name, head := range map[string][]byte{
		"one over the limit": packet(0x30, maxPacket+1)[:5],
		"256 MB":             {0x30, 0xff, 0xff, 0xff, 0x7f},
		"no end of length":   {0x30, 0x80, 0x80, 0x80, 0x80, 0x01},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := net.Pipe()
			defer near.Close()
			c := &limitedConn{Conn: far}
			go near.Write(head)
			_, err := io.ReadAll(c)
			if !errors.Is(err, errPacketTooLarge) {
				t.Errorf("got %v", err)
			}
			near.SetWriteDeadline(time.Now().Add(5 * time.Second))
			if _, err := near.Write([]byte{0}); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("the connection is still open: %v", err)
			}
		})
	}
}

// FuzzLimitedConn: how the bytes come in does not matter, and a body over the limit is never waited for.
func FuzzLimitedConn(f *testing.F) {
	f.Add(packet(0x30, 200), 3)
	f.Add([]byte{0x30, 0xff, 0xff, 0xff, 0x7f}, 1)
	f.Fuzz(func(t *testing.T, b []byte, piece int) {
		if piece < 1 {
			piece = 1
		}
		whole, pieces := &limitedConn{}, &limitedConn{}
		err := whole.follow(b)
		var err2 error
		for r := bytes.NewReader(b); r.Len() > 0 && err2 == nil; {
			p := make([]byte, min(piece, r.Len()))
			r.Read(p)
			err2 = pieces.follow(p)
		}
		if (err == nil) != (err2 == nil) || whole.body > maxPacket {
			t.Fatalf("whole: %v, in pieces: %v, body %d", err, err2, whole.body)
		}
	})
}
