package dense

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"docent/internal/durable"
)

// The file, all numbers little-endian:
//
//	 0  8  magic "DOCLSA\x00\x01", the last byte being the version
//	 8  4  features
//	12  4  dimension
//	16 32  SHA-256 of the bytes before this one and after it
//	48     hashes, uint64; idf, float32; projection, float32 by feature
const (
	fileMagic  = "DOCLSA\x00\x01"
	headerSize = 48
	sumAt      = 16
	maxFile    = 64 << 20
)

// ErrDamaged is wrapped by every error about a file that is not a whole model.
var ErrDamaged = errors.New("damaged vector model")

// Encode writes a model as bytes. The same model gives the same bytes.
func (m *Model) Encode() []byte {
	out := make([]byte, headerSize, headerSize+12*len(m.hashes)+4*len(m.projection.data))
	copy(out, fileMagic)
	binary.LittleEndian.PutUint32(out[8:], uint32(len(m.hashes)))
	binary.LittleEndian.PutUint32(out[12:], uint32(m.projection.columns))
	for _, h := range m.hashes {
		out = binary.LittleEndian.AppendUint64(out, h)
	}
	for _, numbers := range [][]float32{m.idf, m.projection.data} {
		for _, x := range numbers {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
	}
	sum := checksum(out)
	copy(out[sumAt:], sum[:])
	return out
}

// Decode reads a model from bytes written by [Model.Encode]. Any change of the bytes is an error that wraps ErrDamaged.
func Decode(data []byte) (*Model, error) {
	if len(data) < headerSize || string(data[:len(fileMagic)]) != fileMagic {
		return nil, fmt.Errorf("%w: not a model of this version", ErrDamaged)
	}
	features := uint64(binary.LittleEndian.Uint32(data[8:]))
	dimension := uint64(binary.LittleEndian.Uint32(data[12:]))
	if features < 1 || features > maxFeatures || dimension < 1 || dimension > MaxDimension {
		return nil, fmt.Errorf("%w: %d features of dimension %d are beyond its limits", ErrDamaged, features, dimension)
	}
	if want := headerSize + features*(12+4*dimension); uint64(len(data)) != want {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrDamaged, len(data), want)
	}
	if sum := checksum(data); !bytes.Equal(sum[:], data[sumAt:headerSize]) {
		return nil, fmt.Errorf("%w: checksum differs", ErrDamaged)
	}
	m := &Model{hashes: make([]uint64, features), idf: make([]float32, features), projection: newTable(int(features), int(dimension))}
	rest := data[headerSize:]
	for i := range m.hashes {
		m.hashes[i] = binary.LittleEndian.Uint64(rest)
		rest = rest[8:]
	}
	for _, numbers := range [][]float32{m.idf, m.projection.data} {
		for i := range numbers {
			numbers[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest))
			if x := float64(numbers[i]); math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("%w: a number is not finite", ErrDamaged)
			}
			rest = rest[4:]
		}
	}
	if !slices.IsSorted(m.hashes) {
		return nil, fmt.Errorf("%w: features are out of order", ErrDamaged)
	}
	return m, nil
}

// checksum covers every byte of a file but the checksum itself.
func checksum(data []byte) [sha256.Size]byte {
	h := sha256.New()
	_, _ = h.Write(data[:sumAt]) // never an error
	_, _ = h.Write(data[headerSize:])
	return [sha256.Size]byte(h.Sum(nil))
}

// WriteFile writes a model to a file that appears whole or not at all.
func (m *Model) WriteFile(path string) error {
	if err := durable.WriteFile(path, m.Encode(), 0o644); err != nil {
		return fmt.Errorf("write vector model: %w", err)
	}
	return nil
}

// ReadFile reads a model written by [Model.WriteFile].
func ReadFile(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open vector model: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read vector model %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("read vector model %s: %w: longer than %d bytes", path, ErrDamaged, maxFile)
	}
	m, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("read vector model %s: %w", path, err)
	}
	return m, nil
}
