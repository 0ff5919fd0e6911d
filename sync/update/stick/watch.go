package stick

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"docent/sync/update/export"
	"docent/sync/wire"
)

// Defaults and bounds of a Watcher.
const (
	DefaultDepth = 2               // folders below those that are watched, as in /media/USER/STICK
	DefaultEvery = 3 * time.Second // between looks
	maxListed    = 1000            // names of one folder that are looked at
	maxFolders   = 200             // folders of one look
	maxFiles     = 32              // bundle files known at once
)

// Options of a Watcher. Install is required.
type Options struct {
	// Folders are where sticks appear. Those that do not exist are looked for each time.
	Folders []string
	// Inbox is a folder whose bundle files are removed when they are done with; empty is none.
	Inbox string
	Every time.Duration // between looks; 0 means DefaultEvery
	// Install takes the release of a file if it is to be taken, and returns how that ended. When ctx ends it stops
	// fetching.
	Install func(ctx context.Context, f *File) (wire.Deploy, error)
	// Found is told that there are files to read from, so that what waits for the network can go on. Nil is nobody.
	Found  func()
	Now    func() time.Time // nil means time.Now
	Logger *slog.Logger     // nil discards
}

// Watcher finds bundle files on sticks, has the newest installed, and answers from all of them. It is safe for
// concurrent use.
type Watcher struct {
	opt   Options
	ready chan struct{} // capacity 1: a file is ready to be installed

	mu      sync.Mutex
	files   map[string]*found // by path
	running *found
	cancel  context.CancelFunc // of the running installation
	heard   wire.Deploy        // the newest report, of any release
	last    string             // how the last one ended, for when its stick is gone
	lastAt  time.Time
	noted   string // what the inbox's note says; Run's goroutine's alone
}

// found is a file that was found.
type found struct {
	path    string
	info    fs.FileInfo
	inbox   bool
	settled bool  // it was the same at two looks, so nobody is writing it any more
	file    *File // nil until it was read
	tried   bool  // it was installed, or is no bundle
	text    string
	ok      bool // it is shown
	gone    bool
	stays   bool // it could not be removed from the inbox
}

// NewWatcher returns a Watcher that Run sets going.
func NewWatcher(opt Options) *Watcher {
	if opt.Every == 0 {
		opt.Every = DefaultEvery
	}
	if opt.Found == nil {
		opt.Found = func() {}
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Watcher{opt: opt, ready: make(chan struct{}, 1), files: map[string]*found{}}
}

// Run looks for files until ctx ends; then it returns nil.
func (w *Watcher) Run(ctx context.Context) error {
	if w.opt.Inbox != "" {
		if err := os.MkdirAll(w.opt.Inbox, 0o775); err != nil {
			return fmt.Errorf("folder of files to install: %w", err)
		}
	}
	var installing sync.WaitGroup
	installing.Go(func() { w.installAll(ctx) })
	defer installing.Wait()
	tick := time.NewTicker(w.opt.Every)
	defer tick.Stop()
	for {
		w.look()
		w.note()
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// look compares what is there with what is known.
func (w *Watcher) look() {
	there := w.find()
	w.mu.Lock()
	for path, f := range w.files {
		if info, ok := there[path]; !ok || !same(info, f.info) {
			f.gone = true
			delete(w.files, path)
		}
	}
	var fresh []*found
	for path, info := range there {
		f, ok := w.files[path]
		switch {
		case !ok && len(w.files) < maxFiles:
			inbox := w.opt.Inbox != "" && filepath.Dir(path) == w.opt.Inbox
			w.files[path] = &found{path: path, info: info, inbox: inbox}
		case ok && !f.settled:
			f.settled = true
			fresh = append(fresh, f)
		case ok && f.file == nil && !f.tried:
			fresh = append(fresh, f) // it could not be read the last time
		}
	}
	w.mu.Unlock()
	for _, f := range fresh {
		w.open(f)
	}
	if len(fresh) > 0 {
		w.opt.Found()
	}
	w.offer()
}

// open reads the list of a file. A disk that fails is asked again at the next look.
func (w *Watcher) open(f *found) {
	file, err := Open(f.path)
	w.mu.Lock()
	defer w.mu.Unlock()
	var broken *BrokenError
	switch {
	case err == nil:
		f.file = file
		w.opt.Logger.Info("bundle file found", "path", f.path, "release", file.label.ReleaseID)
	case errors.As(err, &broken):
		f.tried = true
		w.end(f, "refused: "+broken.Error(), false)
	case f.text == "":
		f.text = "it cannot be read: " + err.Error()
		w.opt.Logger.Warn("bundle file not read", "path", f.path, "err", err)
	}
}

// offer wakes the installing of what is ready, and stops one that something newer has come for.
func (w *Watcher) offer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := w.next()
	if next == nil {
		return
	}
	if r := w.running; r != nil && next.file.label.Number > r.file.label.Number {
		w.cancel()
	}
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// next is the file with the newest release that was not installed yet. w.mu is held.
func (w *Watcher) next() (next *found) {
	for _, f := range w.files {
		if f.file == nil || f.tried || f == w.running || w.running != nil && f.file.label.ReleaseID == w.running.file.label.ReleaseID {
			continue
		}
		if next == nil || f.file.label.Number > next.file.label.Number ||
			f.file.label.Number == next.file.label.Number && f.path < next.path {
			next = f
		}
	}
	return next
}

// installAll installs one after the other.
func (w *Watcher) installAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.ready:
		}
		for ctx.Err() == nil && w.install(ctx) {
		}
	}
}

// install installs the next file, if there is one.
func (w *Watcher) install(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	f := w.next()
	w.running, w.cancel = f, cancel
	w.mu.Unlock()
	if f == nil {
		return false
	}
	d, err := w.opt.Install(ctx, f.file)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.cancel = nil, nil
	if ctx.Err() != nil {
		return true // something newer has come, or the program ends; this one is looked at again
	}
	f.tried = true
	text, ok := f.verdict(d, err, w.opt.Now())
	w.end(f, text, ok)
	return true
}

// end notes how it went with a file. w.mu is held.
func (w *Watcher) end(f *found, text string, ok bool) {
	f.text, f.ok = text, ok
	w.last, w.lastAt = w.name(f)+": "+text, w.opt.Now()
	w.opt.Logger.Info("bundle file done with", "path", f.path, "outcome", text)
}

// Heard is told how far the kiosk is with any release.
func (w *Watcher) Heard(d wire.Deploy) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = d
}

// Fetch answers with objects of any file that is there. A file that cannot be read any more is forgotten, and found
// again when it is back.
func (w *Watcher) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	for _, f := range w.with(req.Name) {
		c, err := f.file.Fetch(ctx, req)
		if err == nil {
			return c, nil
		}
		w.opt.Logger.Info("bundle file is gone", "path", f.path, "err", err)
		w.mu.Lock()
		f.gone = true
		if w.files[f.path] == f {
			delete(w.files, f.path)
		}
		w.mu.Unlock()
	}
	return wire.Chunk{ID: req.ID, Name: req.Name, Error: wire.FetchNotFound}, nil
}

// with lists the files that have an object.
func (w *Watcher) with(sum string) (out []*found) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if f.file != nil && f.file.Has(sum) {
			out = append(out, f)
		}
	}
	return out
}

// find lists the bundle files that are there.
func (w *Watcher) find() map[string]fs.FileInfo {
	out, folders := map[string]fs.FileInfo{}, maxFolders
	for _, dir := range w.opt.Folders {
		find(dir, DefaultDepth, &folders, out)
	}
	if w.opt.Inbox != "" {
		find(w.opt.Inbox, 0, &folders, out)
	}
	return out
}

func find(dir string, depth int, folders *int, out map[string]fs.FileInfo) {
	if *folders--; *folders < 0 {
		return
	}
	d, err := os.Open(dir)
	if err != nil {
		return // nothing is plugged in there, or it is not for us
	}
	entries, err := d.ReadDir(maxListed)
	if err2 := d.Close(); err != nil && !errors.Is(err, io.EOF) || err2 != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") { // hidden, or a Mac's note about the file of that name
			continue
		}
		path := filepath.Join(dir, name)
		switch {
		case e.IsDir() && depth > 0:
			find(path, depth-1, folders, out)
		case e.Type().IsRegular() && strings.HasSuffix(strings.ToLower(name), export.Suffix):
			if info, err := e.Info(); err == nil {
				out[path] = info
			}
		}
	}
}
