package update

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// Source asks the hub for a part of a file. An error means that no answer came; what the hub says it lacks is in the
// answer.
type Source interface {
	Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error)
}

// Blocks are small at first and grow while they come quickly, so that on a slow line events and their acknowledgements
// wait for one small block of each object at most.
const (
	window     = 4 // objects fetched at once
	leastBlock = 4 << 10
	firstBlock = 16 << 10
	quick      = 500 * time.Millisecond
	slow       = 2 * time.Second
	retryFirst = 200 * time.Millisecond // after no answer
	retryMost  = 15 * time.Second
)

// fetcher reads from the hub.
type fetcher struct {
	source Source
	block  atomic.Int64
	done   atomic.Int64 // bytes of objects that are here
	came   atomic.Int64 // bytes of content received since the start
	room   func() error // asked before each block is kept; nil asks nobody
}

func newFetcher(source Source) *fetcher {
	f := &fetcher{source: source}
	f.block.Store(firstBlock)
	return f
}

// fetch asks for one block, again and again until an answer comes or ctx ends.
func (f *fetcher) fetch(ctx context.Context, name string, offset, most int64) (wire.Chunk, error) {
	wait := retryFirst
	for {
		size := min(f.block.Load(), most)
		began := time.Now()
		c, err := f.source.Fetch(ctx, wire.Fetch{Name: name, Offset: offset, Length: int(size)})
		if err == nil {
			f.came.Add(int64(len(c.Data)))
			f.adapt(size, time.Since(began))
			if c.Error == wire.FetchFailed {
				return c, fmt.Errorf("fetch %s: the hub could not read it", name)
			}
			return c, nil
		}
		f.block.Store(max(leastBlock, f.block.Load()/2))
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return wire.Chunk{}, ctx.Err()
		case <-timer.C:
		}
		wait = min(2*wait, retryMost)
	}
}

// adapt chooses the size of the next blocks by how long one took.
func (f *fetcher) adapt(size int64, took time.Duration) {
	switch {
	case took < quick:
		f.block.Store(min(wire.MaxBlock, max(f.block.Load(), 2*size)))
	case took > slow:
		f.block.Store(max(leastBlock, size/2))
	}
}

// metadata reads a metadata file, at most limit bytes; it is a trust.Fetch.
func (f *fetcher) metadata(ctx context.Context, name string, limit int64) ([]byte, error) {
	var out []byte
	for {
		c, err := f.fetch(ctx, name, int64(len(out)), limit)
		switch {
		case err != nil:
			return nil, err
		case c.Error == wire.FetchNotFound:
			return nil, fmt.Errorf("%s: %w", name, trust.ErrNotFound)
		case c.Size > limit || c.Size < int64(len(out))+int64(len(c.Data)):
			return nil, &trust.RefusedError{Name: name, Code: "too_long", Err: fmt.Errorf("it has %d bytes, at most %d are allowed", c.Size, limit)}
		case len(c.Data) == 0 && int64(len(out)) < c.Size:
			return nil, &trust.RefusedError{Name: name, Code: "metadata", Err: errors.New("it ends before its size")}
		}
		out = append(out, c.Data...)
		if int64(len(out)) == c.Size {
			return out, nil
		}
	}
}

// objectError says that an object is not what the signed index says.
type objectError struct {
	code string
	err  error
}

func (e *objectError) Error() string { return e.err.Error() }
func (e *objectError) Unwrap() error { return e.err }

// doubter is a source that has the same over several ways and may do better when one has given something wrong.
type doubter interface {
	// Wrong says that an object is not what was signed, and tells whether to fetch it again.
	Wrong(name string) (again bool)
	// Right says that it is.
	Right(name string)
}

// object fetches an object into dir under its hash, again where the source knows another way.
func (f *fetcher) object(ctx context.Context, dir string, want bundle.Chunk) error {
	for {
		counted := int64(0)
		err := f.attempt(ctx, dir, want, &counted)
		var bad *objectError
		if !errors.As(err, &bad) {
			return err
		}
		f.done.Add(-counted)
		d, ok := f.source.(doubter)
		if !ok || bad.code == "missing_object" || !d.Wrong(want.SHA256) {
			return err
		}
		if err := os.Remove(filepath.Join(dir, want.SHA256+".part")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // what is there of it may be as wrong
		}
	}
}

// attempt goes on where an earlier attempt was cut off, at any byte, and takes no byte more than the declared size. It
// counts what is here of the object.
func (f *fetcher) attempt(ctx context.Context, dir string, want bundle.Chunk, counted *int64) error {
	path := filepath.Join(dir, want.SHA256)
	if info, err := os.Stat(path); err == nil && info.Size() == want.Size {
		return nil // it was checked before it got this name
	}
	part, err := os.OpenFile(path+".part", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer part.Close()
	have, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if have > want.Size {
		have = 0
		if err := part.Truncate(0); err != nil {
			return err
		}
	}
	f.done.Add(have)
	*counted = have
	for have < want.Size {
		c, err := f.fetch(ctx, want.SHA256, have, want.Size-have)
		if err != nil {
			return err
		}
		if c.Error != "" {
			return &objectError{"missing_object", fmt.Errorf("the hub lacks object %s", want.SHA256)}
		}
		if c.Size != want.Size {
			return &objectError{"wrong_size", fmt.Errorf("object %s has %d bytes, %d were declared", want.SHA256, c.Size, want.Size)}
		}
		if len(c.Data) == 0 || c.Offset != have {
			return &objectError{"wrong_block", fmt.Errorf("object %s: a block of %d bytes at %d, asked at %d", want.SHA256, len(c.Data), c.Offset, have)}
		}
		if f.room != nil {
			if err := f.room(); err != nil {
				return err
			}
		}
		if _, err := part.WriteAt(c.Data, have); err != nil {
			return err
		}
		have += int64(len(c.Data))
		f.done.Add(int64(len(c.Data)))
		*counted = have
	}
	sum, err := hashFile(part)
	if err != nil {
		return err
	}
	if sum != want.SHA256 {
		return errors.Join(&objectError{"wrong_hash", fmt.Errorf("object %s has other bytes", want.SHA256)}, os.Remove(path+".part"))
	}
	if d, ok := f.source.(doubter); ok {
		d.Right(want.SHA256)
	}
	if err := part.Sync(); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

func hashFile(f *os.File) (string, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// objects fetches several objects, a few at a time, and tells about the progress.
func (f *fetcher) objects(ctx context.Context, dir string, want []bundle.Chunk) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(window)
	for _, c := range want {
		group.Go(func() error { return f.object(ctx, dir, c) })
	}
	return group.Wait()
}
