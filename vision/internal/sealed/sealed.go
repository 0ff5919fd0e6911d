// Package sealed puts a checksummed envelope around the files of the recognition index, so that a reader never
// parses a byte that was not written by the builder.
package sealed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"docent/internal/durable"

	"golang.org/x/sys/unix"
)

// The envelope, numbers little-endian: 8 bytes magic naming the kind, 8 bytes length of the content, 32 bytes
// SHA-256 of magic, length and content, then the content.
const (
	kindSize = 8
	headSize = kindSize + 8 + sha256.Size
)

// ErrDamaged is wrapped by every error about a file that is not whole.
var ErrDamaged = errors.New("damaged file")

// Sum is the checksum of a sealed file.
type Sum [sha256.Size]byte

// Seal wraps content of a kind, a word of up to 8 bytes that includes the version of the format.
func Seal(kind string, content []byte) ([]byte, Sum) {
	out := make([]byte, headSize, headSize+len(content))
	copy(out[:kindSize], kind)
	binary.LittleEndian.PutUint64(out[kindSize:], uint64(len(content)))
	out = append(out, content...)
	sum := checksum(out)
	copy(out[kindSize+8:headSize], sum[:])
	return out, sum
}

// Unseal returns the content of a sealed file of a kind, a part of data.
func Unseal(kind string, data []byte) ([]byte, Sum, error) {
	if len(data) < headSize {
		return nil, Sum{}, fmt.Errorf("%w: %d bytes are too few", ErrDamaged, len(data))
	}
	var want [kindSize]byte
	copy(want[:], kind)
	if !bytes.Equal(data[:kindSize], want[:]) {
		return nil, Sum{}, fmt.Errorf("%w: not %q", ErrDamaged, kind)
	}
	if n := binary.LittleEndian.Uint64(data[kindSize:]); n != uint64(len(data)-headSize) {
		return nil, Sum{}, fmt.Errorf("%w: %d bytes of content, want %d", ErrDamaged, len(data)-headSize, n)
	}
	sum := checksum(data)
	if !bytes.Equal(sum[:], data[kindSize+8:headSize]) {
		return nil, Sum{}, fmt.Errorf("%w: checksum differs", ErrDamaged)
	}
	return data[headSize:], sum, nil
}

func checksum(data []byte) Sum {
	h := sha256.New()
	h.Write(data[:kindSize+8])
	h.Write(data[headSize:])
	return Sum(h.Sum(nil))
}

// WriteFile seals content and writes it to a file that appears whole or not at all.
func WriteFile(path, kind string, content []byte) (Sum, error) {
	data, sum := Seal(kind, content)
	if err := durable.WriteFile(path, data, 0o644); err != nil {
		return Sum{}, fmt.Errorf("write %s: %w", path, err)
	}
	return sum, nil
}

// ReadFile reads and unseals a file of at most limit bytes.
func ReadFile(path, kind string, limit int64) ([]byte, Sum, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Sum{}, fmt.Errorf("open: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Sum{}, fmt.Errorf("read %s: %w", path, err)
	}
	if info.Size() > limit {
		return nil, Sum{}, fmt.Errorf("read %s: %w: %d bytes, at most %d allowed", path, ErrDamaged, info.Size(), limit)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, Sum{}, fmt.Errorf("read %s: %w", path, err)
	}
	content, sum, err := Unseal(kind, data)
	if err != nil {
		return nil, Sum{}, fmt.Errorf("read %s: %w", path, err)
	}
	return content, sum, nil
}

// MapFile maps a sealed file of at most limit bytes into memory, checks it, and returns its content, which must not be
// used after unmap. A file that is cut short while it is mapped ends the process, so it must be one that nobody
// writes to.
func MapFile(path, kind string, limit int64) (content []byte, sum Sum, unmap func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Sum{}, nil, fmt.Errorf("open: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Sum{}, nil, fmt.Errorf("map %s: %w", path, err)
	}
	if info.Size() > limit || info.Size() < headSize {
		return nil, Sum{}, nil, fmt.Errorf("map %s: %w: %d bytes, want %d to %d", path, ErrDamaged, info.Size(), headSize, limit)
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, Sum{}, nil, fmt.Errorf("map %s: %w", path, err)
	}
	content, sum, err = Unseal(kind, data)
	if err != nil {
		return nil, Sum{}, nil, fmt.Errorf("map %s: %w", path, errors.Join(err, unix.Munmap(data)))
	}
	return content, sum, func() error { return unix.Munmap(data) }, nil
}
