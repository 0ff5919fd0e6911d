package vector

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"docent/internal/durable"
)

// The file, all numbers little-endian:
//
//	 0  8  magic "DOCVEC\x00\x01", the last byte being the version
//	 8  4  kind: 1 exact, 2 hnsw
//	12  4  dimension
//	16  8  number of vectors
//	24 32  SHA-256 of the bytes before this one and after it
//	56     vectors, float32
const (
	fileMagic  = "DOCVEC\x00\x01"
	headerSize = 56
	sumAt      = 24
)

var kindCodes = map[Kind]uint32{Exact: 1, HNSW: 2}

// ErrDamaged is wrapped by every error about a file that is not a whole vector index.
var ErrDamaged = errors.New("damaged vector index")

// Encode writes an index made by this package as bytes. The same index gives the same bytes.
func Encode(index Index) ([]byte, error) {
	var exact *ExactIndex
	switch x := index.(type) {
	case *ExactIndex:
		exact = x
	case *HNSWIndex:
		exact = x.exact
	default:
		return nil, fmt.Errorf("encode vector index: unknown type %T", index)
	}
	out := make([]byte, headerSize, headerSize+4*len(exact.vectors))
	copy(out, fileMagic)
	binary.LittleEndian.PutUint32(out[8:], kindCodes[index.Kind()])
	binary.LittleEndian.PutUint32(out[12:], uint32(exact.dimension))
	binary.LittleEndian.PutUint64(out[16:], uint64(exact.Len()))
	for _, v := range exact.vectors {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	sum := checksum(out)
	copy(out[sumAt:], sum[:])
	return out, nil
}

// Decode reads an index from bytes written by [Encode]. HNSW graphs are built again. Any change of the bytes is an
// error that wraps ErrDamaged.
func Decode(data []byte) (Index, error) {
	if len(data) < headerSize || string(data[:len(fileMagic)]) != fileMagic {
		return nil, fmt.Errorf("%w: not a vector index of this version", ErrDamaged)
	}
	dimension := binary.LittleEndian.Uint32(data[12:])
	count := binary.LittleEndian.Uint64(data[16:])
	if dimension < 1 || dimension > MaxDimension || count > MaxVectors {
		return nil, fmt.Errorf("%w: %d vectors of dimension %d are beyond its limits", ErrDamaged, count, dimension)
	}
	if want := headerSize + 4*uint64(dimension)*count; uint64(len(data)) != want {
		return nil, fmt.Errorf("%w: %d bytes, want %d", ErrDamaged, len(data), want)
	}
	if sum := checksum(data); !bytes.Equal(sum[:], data[sumAt:headerSize]) {
		return nil, fmt.Errorf("%w: checksum differs", ErrDamaged)
	}
	vectors := make([]float32, uint64(dimension)*count)
	for i := range vectors {
		vectors[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[headerSize+4*i:]))
	}
	exact := &ExactIndex{dimension: int(dimension), vectors: vectors}
	for i := range exact.Len() {
		if length := squaredLength(exact.Vector(uint32(i))); !(length == 0 || math.Abs(length-1) < 1e-3) {
			return nil, fmt.Errorf("%w: vector %d has length² %g, want 1", ErrDamaged, i, length)
		}
	}
	switch binary.LittleEndian.Uint32(data[8:]) {
	case kindCodes[Exact]:
		return exact, nil
	case kindCodes[HNSW]:
		return NewHNSW(exact), nil
	}
	return nil, fmt.Errorf("%w: unknown kind", ErrDamaged)
}

// checksum covers every byte of a file but the checksum itself.
func checksum(data []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(data[:sumAt])
	h.Write(data[headerSize:])
	return [sha256.Size]byte(h.Sum(nil))
}

// WriteFile writes an index to a file that appears whole or not at all.
func WriteFile(path string, index Index) error {
	data, err := Encode(index)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("write vector index: %w", err)
	}
	return nil
}

// maxFile bounds what ReadFile reads into memory.
const maxFile = 2 << 30

// ReadFile reads an index written by [WriteFile].
func ReadFile(path string) (Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open vector index: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read vector index %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("read vector index %s: %w: longer than %d bytes", path, ErrDamaged, maxFile)
	}
	index, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("read vector index %s: %w", path, err)
	}
	return index, nil
}
