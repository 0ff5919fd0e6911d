package speech

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzFinish takes whatever a program may give for a sound: none, or one whose head tells its true lengths.
func FuzzFinish(f *testing.F) {
	head := append([]byte("RIFF\xff\xff\xff\x7fWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"), bytes.Repeat([]byte{1}, 12)...)
	head = append(head, "data\xff\xff\xff\x7f"...)
	f.Add(append(bytes.Clone(head), 1, 2, 3, 4))
	f.Add(head)
	f.Add([]byte("RIFF"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, wav []byte) {
		before := bytes.Clone(wav)
		got, err := finish(wav)
		if err != nil {
			return
		}
		if len(got) <= wavHead || int(binary.LittleEndian.Uint32(got[4:])) != len(got)-8 || int(binary.LittleEndian.Uint32(got[40:])) != len(got)-wavHead {
			t.Errorf("head %x of %d bytes", got[:min(len(got), wavHead)], len(got))
		}
		if !bytes.Equal(got[wavHead:], before[wavHead:]) {
			t.Error("the sound was changed")
		}
	})
}
