package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"docent/kiosk"
	"docent/localindex"
	"docent/localindex/gallery"
	"docent/sync/update"
	"docent/sync/update/trust"
	"docent/vision"
	"docent/vision/selftest"
)

// content is what a kiosk shows: the current release and, during an update, the one to come.
type content struct {
	services localindex.Services
	log      *slog.Logger
	kiosk    *kiosk.Kiosk // nil until it is open; no update begins before

	mu        sync.Mutex
	current   *opened
	candidate *opened // checked and not yet shown
}

var _ update.Content = (*content)(nil)

// opened is a release that is ready to be shown.
type opened struct {
	dir        string
	release    *localindex.Release
	recogniser *vision.Recogniser
}

func (c *content) open(ctx context.Context, dir string) (*opened, error) {
	release, err := localindex.OpenWith(ctx, dir, c.services)
	if err != nil {
		return nil, err
	}
	if why := release.VectorsUnused(); why != "" {
		c.log.Warn("the release is searched by its words alone", "release", release.Manifest().ID, "why", why)
	}
	recogniser, err := vision.Open(release.PartDir(vision.IndexPart{}.Name()), vision.Options{Logger: c.log})
	if err != nil {
		return nil, errors.Join(err, release.Close())
	}
	return &opened{dir: dir, release: release, recogniser: recogniser}, nil
}

func (o *opened) close() error {
	if o == nil {
		return nil
	}
	return errors.Join(o.recogniser.Close(), o.release.Close())
}

// start opens the release to begin with. Where releases come from a hub, it returns the folder they are kept in.
func (c *content) start(ctx context.Context, config kiosk.Config) (*update.Store, error) {
	open := func(dir string) (err error) {
		c.current, err = c.open(ctx, dir)
		return err
	}
	if config.Hub.Root == "" {
		return nil, open(config.Release)
	}
	factory, err := filepath.Abs(config.Release)
	if err != nil {
		return nil, err
	}
	store, err := update.OpenStore(filepath.Join(config.DataDir, "content"), factory, time.Now)
	if err != nil {
		return nil, err
	}
	return store, store.Start(open)
}

// newUpdater follows the releases that come over any way.
func newUpdater(config kiosk.Config, store *update.Store, shown *content, over *deliveries, log *slog.Logger) (*update.Updater, error) {
	root, err := os.ReadFile(config.Hub.Root)
	if err != nil {
		return nil, fmt.Errorf("read root of trust: %w", err)
	}
	client, err := trust.NewClient(filepath.Join(config.DataDir, "content", "metadata"), root)
	if err != nil {
		return nil, err
	}
	over.updater, err = update.New(update.Options{
		Store: store, Trust: client, Source: over, Content: shown, Report: over.report, Logger: log,
	})
	return over.updater, err
}

// Unattended tells whether nobody is there.
func (c *content) Unattended() bool { return c.kiosk.Unattended() }

// Check opens a release beside the one that is shown, tries it out, and keeps it open for Switch.
func (c *content) Check(ctx context.Context, dir string) error {
	o, err := c.open(ctx, dir)
	if err != nil {
		return err
	}
	if err := o.tryOut(ctx); err != nil {
		return errors.Join(err, o.close())
	}
	return c.setCandidate(o)
}

func (c *content) setCandidate(o *opened) error {
	c.mu.Lock()
	before := c.candidate
	c.candidate = o
	c.mu.Unlock()
	return before.close()
}

// Switch shows a release. It returns when nobody uses the one before any more, which is closed then.
func (c *content) Switch(ctx context.Context, dir string) error {
	c.mu.Lock()
	next, before := c.candidate, c.current
	c.mu.Unlock()
	if before.dir == dir { // the program has started with it
		return nil
	}
	if next == nil || next.dir != dir {
		var err error
		if next, err = c.open(ctx, dir); err != nil {
			return err
		}
	} else {
		c.mu.Lock()
		c.candidate = nil
		c.mu.Unlock()
	}
	err := c.kiosk.Switch(ctx, next.release, next.recogniser)
	c.mu.Lock()
	c.current = next // also when ctx ended while the one before was in use
	c.mu.Unlock()
	if err != nil {
		return err // the program ends, and what is in use is not closed under its users
	}
	return before.close()
}

// Healthy tries out the release that is shown.
func (c *content) Healthy(ctx context.Context) error {
	c.mu.Lock()
	current := c.current
	c.mu.Unlock()
	return current.tryOut(ctx)
}

// close closes what is open, when the kiosk runs no more.
func (c *content) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.candidate.close(), c.current.close())
}

// How many exhibits are tried out: enough to find an index that is empty or of another gallery, few enough for a small
// device to do in seconds.
const samples = 5

// pictureLimits are those of a gallery's own pictures.
var pictureLimits = vision.Limits{Bytes: 64 << 20, Pixels: 100_000_000, MinSide: 64, MaxSide: vision.MaxSide}

// tryOut takes a few photos of the release's self-test again, all of which were recognised when it was built, and has
// them recognised here; then it recognises some exhibits by their own pictures and searches for them by their titles. Most
// must be found: a picture that recognition cannot use, or a title of stop words, is no reason to refuse a release.
func (o *opened) tryOut(ctx context.Context) error {
	if err := o.takeViews(ctx); err != nil {
		return err
	}
	exhibits := spread(o.release.Gallery().Exhibits, samples)
	var recognised, pictures, found int
	for _, e := range exhibits {
		if len(e.Pictures) > 0 {
			pictures++
			ok, err := o.recognises(ctx, e)
			if err != nil {
				return fmt.Errorf("recognise exhibit %s: %w", e.ID, err)
			}
			if ok {
				recognised++
			}
		}
		ok, err := o.finds(ctx, e)
		if err != nil {
			return fmt.Errorf("search for exhibit %s: %w", e.ID, err)
		}
		if ok {
			found++
		}
	}
	if 2*recognised < pictures {
		return fmt.Errorf("of %d exhibits that were tried, %d were recognised", pictures, recognised)
	}
	if 2*found < len(exhibits) {
		return fmt.Errorf("of %d exhibits that were looked for, %d were found", len(exhibits), found)
	}
	return nil
}

// takeViews takes the photos of the self-test. A few may be lost to the rounding of another processor. A release without
// them has none to fail.
func (o *opened) takeViews(ctx context.Context) error {
	views, err := selftest.Views(o.release.PartDir(selftest.PartName))
	if err != nil {
		return err
	}
	missed, err := selftest.Try(ctx, o.recogniser, views, o.release.PicturePath)
	if err != nil {
		return err
	}
	if 3*len(missed) > len(views) {
		return fmt.Errorf("of %d photos of the release's self-test, %d were recognised, and not that of exhibit %s",
			len(views), len(views)-len(missed), missed[0].Exhibit)
	}
	return nil
}

// spread is n of a list, evenly spread.
func spread(exhibits []gallery.Exhibit, n int) []gallery.Exhibit {
	if len(exhibits) <= n {
		return exhibits
	}
	out := make([]gallery.Exhibit, n)
	for i := range out {
		out[i] = exhibits[i*len(exhibits)/n]
	}
	return out
}

// recognises tells whether an exhibit is recognised by its first picture, which must load.
func (o *opened) recognises(ctx context.Context, e gallery.Exhibit) (bool, error) {
	path, ok := o.release.PicturePath(e.Pictures[0].File)
	if !ok {
		return false, fmt.Errorf("picture %s is not there", e.Pictures[0].File)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	photo, err := vision.DecodeWithin(data, pictureLimits)
	if err != nil {
		return false, err
	}
	defer photo.Close()
	r, err := o.recogniser.Recognise(ctx, photo)
	if err != nil {
		return false, err
	}
	for _, c := range r.Candidates {
		if c.ExhibitID == e.ID {
			return true, nil
		}
	}
	return false, nil
}

// finds tells whether a search for an exhibit's title finds a passage.
func (o *opened) finds(ctx context.Context, e gallery.Exhibit) (bool, error) {
	languages := o.release.Gallery().Languages
	if len(languages) == 0 {
		return false, nil
	}
	hits, err := o.release.Search(ctx, localindex.Query{Text: e.Title[languages[0]], Language: languages[0], Limit: 1})
	return len(hits) > 0, err
}
