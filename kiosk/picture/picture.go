// Package picture scales pictures of the release for the page and keeps the results in memory, bounded in bytes.
package picture

import (
	"container/list"
	"context"
	"fmt"
	"image"
	"os"
	"sync"

	"golang.org/x/sync/singleflight"
	"golang.org/x/sys/unix"

	"docent/vision"
)

// Widths are the widths in pixels that can be asked for, so that nobody can fill the cache with all of them.
var Widths = []int{320, 640, 1280}

// limits are those of the pictures a gallery may be built from. A tall picture keeps up to 4,096 px of height.
var limits = vision.Limits{Bytes: 64 << 20, Pixels: 100_000_000, MinSide: 1, MaxSide: 4096}

const (
	quality = 82 // JPEG; above it files grow quickly and nobody sees a difference at arm's length
	// atOnce bounds the pictures that are decoded at once: each may take 300 MB.
	atOnce = 2
)

// Cache scales pictures and keeps the last results. It is safe for concurrent use.
type Cache struct {
	most   int // bytes
	slots  chan struct{}
	flight singleflight.Group

	mu      sync.Mutex
	bytes   int
	entries map[key]*list.Element // of *entry
	recent  *list.List            // most recently used first
}

// key is a file, whatever its path: two releases share the files that are the same in both, so that scaled pictures stay
// at hand when the kiosk switches from one to the other.
type key struct {
	device, inode  uint64
	size, modified int64
	width          int
}

func keyOf(path string, width int) (key, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return key{}, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	return key{uint64(st.Dev), st.Ino, st.Size, st.Mtim.Nano(), width}, nil
}

type entry struct {
	key  key
	jpeg []byte
}

// NewCache returns a cache that keeps at most mostBytes of scaled pictures.
func NewCache(mostBytes int) *Cache {
	return &Cache{
		most: mostBytes, slots: make(chan struct{}, atOnce),
		entries: map[key]*list.Element{}, recent: list.New(),
	}
}

// Scaled returns the picture at path as a JPEG of the given width in pixels, never enlarged. The bytes are shared
// and must not be changed. Callers that ask for the same at once share the work.
func (c *Cache) Scaled(ctx context.Context, path string, width int) ([]byte, error) {
	k, err := keyOf(path, width)
	if err != nil {
		return nil, fmt.Errorf("scale picture: %w", err)
	}
	if jpeg, ok := c.get(k); ok {
		return jpeg, nil
	}
	// The work is shared, so it does not end with one caller's context; that caller just stops waiting.
	done := c.flight.DoChan(fmt.Sprint(k), func() (any, error) {
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		jpeg, err := scale(path, width)
		if err != nil {
			return nil, err
		}
		c.put(k, jpeg)
		return jpeg, nil
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		if r.Err != nil {
			return nil, fmt.Errorf("scale picture: %w", r.Err)
		}
		return r.Val.([]byte), nil
	}
}

// Size is how many bytes the cache holds, for the metrics.
func (c *Cache) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes
}

func (c *Cache) get(k key) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[k]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*entry).jpeg, true
}

// put adds a picture and drops those that were unused for longest; one that is larger than the whole cache is not
// kept.
func (c *Cache) put(k key, jpeg []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.entries[k]; ok || len(jpeg) > c.most {
		return
	}
	c.entries[k] = c.recent.PushFront(&entry{k, jpeg})
	c.bytes += len(jpeg)
	for c.bytes > c.most {
		last := c.recent.Back()
		e := c.recent.Remove(last).(*entry)
		delete(c.entries, e.key)
		c.bytes -= len(e.jpeg)
	}
}

func scale(path string, width int) ([]byte, error) {
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	p, err := vision.DecodeWithin(data, limits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer p.Close()
	return p.JPEG(longSide(p.Size(), width), quality)
}

// longSide is the long side that a picture of that size has when it is at most width pixels wide.
func longSide(size image.Point, width int) int {
	if size.X <= width {
		return max(size.X, size.Y)
	}
	return max(width, (size.Y*width+size.X/2)/size.X)
}

func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > int64(limits.Bytes) {
		return nil, fmt.Errorf("%s: %w", path, vision.ErrTooLarge)
	}
	return os.ReadFile(path)
}
