package embedding

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"sync"
)

// Cache keeps vectors on disk, one file for each model: records that are only ever appended. A record that a crash cut
// short is cut off when the file is opened next.
//
// A record, all numbers little-endian: the SHA-256 of the text (32 bytes), the dimension (4), that many float32, and the
// CRC-32 of all of it (4).
type Cache struct {
	mu      sync.Mutex
	file    *os.File
	vectors map[[sha256.Size]byte][]float32
}

// maxCache bounds a cache file.
const maxCache = 4 << 30

// OpenCache opens the cache of a model in a folder, which is made where it does not exist.
func OpenCache(dir, model string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open cache of vectors: %w", err)
	}
	sum := sha256.Sum256([]byte(model))
	path := filepath.Join(dir, "vectors-"+hex.EncodeToString(sum[:8])+".bin")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open cache of vectors: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxCache))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read cache of vectors %s: %w", path, err), f.Close())
	}
	c := &Cache{file: f}
	var whole int
	c.vectors, whole = decodeRecords(data)
	if whole < len(data) {
		err = f.Truncate(int64(whole))
	}
	if _, seekErr := f.Seek(int64(whole), io.SeekStart); err != nil || seekErr != nil {
		return nil, errors.Join(fmt.Errorf("mend cache of vectors %s", path), err, seekErr, f.Close())
	}
	return c, nil
}

// decodeRecords reads records up to the first that is not whole, and returns how many bytes they take.
func decodeRecords(data []byte) (map[[sha256.Size]byte][]float32, int) {
	vectors := make(map[[sha256.Size]byte][]float32)
	at := 0
	for {
		rest := data[at:]
		if len(rest) < sha256.Size+4 {
			return vectors, at
		}
		dimension := binary.LittleEndian.Uint32(rest[sha256.Size:])
		body := sha256.Size + 4 + 4*int(dimension)
		if dimension == 0 || dimension > MaxDimension || len(rest) < body+4 ||
			crc32.ChecksumIEEE(rest[:body]) != binary.LittleEndian.Uint32(rest[body:]) {
			return vectors, at
		}
		v := make([]float32, dimension)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(rest[sha256.Size+4+4*i:]))
		}
		vectors[[sha256.Size]byte(rest)] = v
		at += body + 4
	}
}

// Len is the number of vectors.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.vectors)
}

// Get returns the vector of a text.
func (c *Cache) Get(text string) ([]float32, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.vectors[sha256.Sum256([]byte(text))]
	return v, ok
}

// Put keeps the vectors of texts and brings them to the disk.
func (c *Cache) Put(texts []string, vectors [][]float32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []byte
	for i, text := range texts {
		key := sha256.Sum256([]byte(text))
		start := len(out)
		out = append(out, key[:]...)
		out = binary.LittleEndian.AppendUint32(out, uint32(len(vectors[i])))
		for _, x := range vectors[i] {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
		}
		out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(out[start:]))
	}
	_, err := c.file.Write(out)
	if err := errors.Join(err, c.file.Sync()); err != nil {
		return fmt.Errorf("write cache of vectors: %w", err)
	}
	for i, text := range texts {
		c.vectors[sha256.Sum256([]byte(text))] = vectors[i]
	}
	return nil
}

// Close closes the file.
func (c *Cache) Close() error { return c.file.Close() }
