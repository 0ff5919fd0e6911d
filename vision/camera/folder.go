package camera

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
)

// maxFolder bounds how many pictures a folder source goes through.
const maxFolder = 10_000

// Folder shows the pictures of a folder and its sub-folders one after the other, in the order of their names, as
// a camera would see them.
type Folder struct {
	dir    string
	files  []string // below dir
	limits vision.Limits
	dwell  time.Duration
	now    func() time.Time
	pace   pace

	mu    sync.Mutex
	index int       // of the picture to show
	since time.Time // since when it is shown

	shown int      // what current holds, -1 for nothing
	frame gocv.Mat // the decoded picture
}

// OpenFolder opens a folder that holds at least one picture. Pictures that cannot be read are passed over.
func OpenFolder(dir string, s Settings) (*Folder, error) {
	s = s.withDefaults()
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && isPicture(path) {
			files = append(files, path)
		}
		if len(files) >= maxFolder {
			return filepath.SkipAll
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read folder of pictures %s: %w", dir, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read folder of pictures %s: no .jpg, .jpeg, .png or .webp in it", dir)
	}
	limits := vision.VisitorLimits
	limits.MaxSide = s.MaxSide
	return &Folder{
		dir: dir, files: files, limits: limits, dwell: s.Dwell, now: s.Now,
		pace: newPace(s.FrameRate, s.Now), since: s.Now(), shown: -1, frame: gocv.NewMat(),
	}, nil
}

func isPicture(path string) bool {
	return slices.Contains([]string{".jpg", ".jpeg", ".png", ".webp"}, strings.ToLower(filepath.Ext(path)))
}

// Next goes on to the next picture at once. It may be called from any goroutine.
func (f *Folder) Next() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.advance()
}

// Shown names the picture that is shown, slash-separated and relative to the folder.
func (f *Folder) Shown() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	name, err := filepath.Rel(f.dir, f.files[f.index])
	if err != nil {
		return f.files[f.index]
	}
	return filepath.ToSlash(name)
}

// advance is called with mu held.
func (f *Folder) advance() {
	f.index = (f.index + 1) % len(f.files)
	f.since = f.now()
}

// Read gives the picture that is due.
func (f *Folder) Read(ctx context.Context, dst *gocv.Mat) error {
	if err := f.pace.wait(ctx); err != nil {
		return err
	}
	var last error
	for range f.files {
		due := f.due()
		if due == f.shown {
			f.frame.CopyTo(dst)
			return nil
		}
		if last = f.load(due); last != nil {
			f.skip(due)
		}
	}
	if f.shown == f.due() {
		f.frame.CopyTo(dst)
		return nil
	}
	return fmt.Errorf("read folder of pictures %s: none can be read: %w", f.dir, last)
}

// due is the picture to show now.
func (f *Folder) due() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now().Sub(f.since) >= f.dwell && len(f.files) > 1 {
		f.advance()
	}
	return f.index
}

// skip passes over picture i, unless somebody went on meanwhile.
func (f *Folder) skip(i int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.index == i {
		f.advance()
	}
}

func (f *Folder) load(i int) error {
	data, err := readBounded(f.files[i], f.limits.Bytes)
	if err != nil {
		return err
	}
	photo, err := vision.DecodeWithin(data, f.limits)
	if err != nil {
		return fmt.Errorf("decode %s: %w", f.files[i], err)
	}
	f.frame.Close()
	f.frame, f.shown = photo.Image, i
	return nil
}

func readBounded(path string, limit int) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > int64(limit) {
		return nil, fmt.Errorf("read %s: %w", path, vision.ErrTooLarge)
	}
	return os.ReadFile(path)
}

// Close gives the decoded picture back.
func (f *Folder) Close() error {
	if f.shown == closed {
		return errors.New("close folder of pictures: closed already")
	}
	f.shown = closed
	return f.frame.Close()
}

const closed = -2

var _ Source = (*Folder)(nil)
