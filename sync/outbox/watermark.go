package outbox

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/google/uuid"
)

// watermark is a small file that holds the newest number given out, so that a store whose newest records vanished is
// found out. It is written after each commit without a sync: it survives the process, and after a power cut it may be
// behind (then it proves nothing) but never ahead of the store. Two slots are written in turn, so one is always whole.
type watermark struct {
	f    *os.File
	turn uint64
}

// slot: magic 4, turn 8, stream 16, seq 8, CRC-32C 4, padded.
const (
	slotSize  = 64
	slotMagic = 0x444f4d31 // "DOM1"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func openWatermark(path string) (*watermark, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open watermark: %w", err)
	}
	return &watermark{f: f}, nil
}

// read returns the newest whole slot.
func (w *watermark) read() (streamID string, seq uint64, ok bool) {
	for i := range int64(2) {
		var b [slotSize]byte
		if _, err := w.f.ReadAt(b[:], i*slotSize); err != nil && err != io.EOF {
			continue
		}
		turn := binary.BigEndian.Uint64(b[4:])
		if binary.BigEndian.Uint32(b[:]) != slotMagic || crc32.Checksum(b[:36], castagnoli) != binary.BigEndian.Uint32(b[36:]) || (ok && turn < w.turn) {
			continue
		}
		w.turn, ok = turn, true
		streamID, seq = uuid.UUID(b[12:28]).String(), binary.BigEndian.Uint64(b[28:])
	}
	return streamID, seq, ok
}

func (w *watermark) write(streamID string, seq uint64) error {
	id, err := uuid.Parse(streamID)
	if err != nil {
		return fmt.Errorf("write watermark: %w", err)
	}
	w.turn++
	var b [slotSize]byte
	binary.BigEndian.PutUint32(b[:], slotMagic)
	binary.BigEndian.PutUint64(b[4:], w.turn)
	copy(b[12:28], id[:])
	binary.BigEndian.PutUint64(b[28:], seq)
	binary.BigEndian.PutUint32(b[36:], crc32.Checksum(b[:36], castagnoli))
	if _, err := w.f.WriteAt(b[:], int64(w.turn%2)*slotSize); err != nil {
		return fmt.Errorf("write watermark: %w", err)
	}
	return nil
}

func (w *watermark) close() error {
	if err := w.f.Sync(); err != nil {
		w.f.Close()
		return fmt.Errorf("sync watermark: %w", err)
	}
	return w.f.Close()
}
