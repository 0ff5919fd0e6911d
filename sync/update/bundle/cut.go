package bundle

import (
	"bufio"
	"errors"
	"io"
	"path"
	"strings"
)

// Sizes of chunks. Pictures are one chunk up to MaxWhole: nothing of one stays when it changes. Other files are cut where
// their bytes say so, so that what is put in or taken out moves no cut but the nearest. A third of a megabyte is the mean,
// at which a change costs little and the index of a gigabyte stays small.
const (
	MaxWhole = 4 << 20
	maxUncut = 128 << 10
	minChunk = 64 << 10
	maxChunk = 1 << 20
	cutMask  = (1<<18 - 1) << 40 // after minChunk bytes, a cut once in 256 KiB; bits that the last 64 bytes decide
)

// gear gives each byte a number for the rolling hash of FastCDC (Xia and others, 2016). It is a part of the format in so
// far as other numbers cut elsewhere: then more travels once.
var gear = func() (g [256]uint64) {
	x := uint64(0x646f63656e74) // splitmix64 (Steele and others, 2014)
	for i := range g {
		x += 0x9e3779b97f4a7c15
		z := (x ^ x>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		g[i] = z ^ z>>31
	}
	return g
}()

// cutter cuts a file into chunks.
type cutter struct {
	r     *bufio.Reader
	whole bool
}

func newCutter(r io.Reader, name string, size int64) *cutter {
	whole := size <= maxUncut || size <= MaxWhole && isPicture(name)
	if whole {
		return &cutter{bufio.NewReaderSize(r, MaxWhole), true}
	}
	return &cutter{bufio.NewReaderSize(r, maxChunk), false}
}

func isPicture(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".jpg", ".jpeg", ".png", ".webp", ".avif", ".gif":
		return true
	}
	return false
}

// next returns the bytes of the next chunk, or io.EOF.
func (c *cutter) next() ([]byte, error) {
	most := maxChunk
	if c.whole {
		most = MaxWhole
	}
	data, err := c.r.Peek(most)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(data) == 0 {
		return nil, io.EOF
	}
	n := len(data)
	if !c.whole {
		n = boundary(data)
	}
	out := make([]byte, n)
	_, err = io.ReadFull(c.r, out)
	return out, err
}

// boundary is where the chunk ends that begins with data.
func boundary(data []byte) int {
	hash := uint64(0)
	for i := minChunk; i < len(data); i++ {
		if hash = hash<<1 + gear[data[i]]; hash&cutMask == 0 && i >= minChunk+64 {
			return i + 1
		}
	}
	return len(data)
}
