package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"docent/internal/durable"
	"docent/sync/update/export"
	"docent/sync/update/mirror"
	"docent/sync/update/trust"
)

// published is where to read what a hub publishes.
type published struct {
	hubPage
	Root string `help:"Root metadata to verify with, as kiosks have it; without one, the hub's first." type:"existingfile" placeholder:"FILE"`
}

// find verifies what the hub publishes. The caller closes the source.
func (p published) find(ctx context.Context, all bool) (*export.Set, *mirror.Mirror, error) {
	opt := export.Options{All: all, Now: time.Now}
	if p.Root != "" {
		var err error
		if opt.Root, err = os.ReadFile(p.Root); err != nil {
			return nil, nil, fmt.Errorf("read root of trust: %w", err)
		}
	}
	if err := checkPage(p.Hub); err != nil {
		return nil, nil, err
	}
	source, err := mirror.New(mirror.Options{URL: p.address("/api/v1/content/files")})
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("--hub: %w", err)}
	}
	set, err := export.Find(ctx, source, opt)
	if err != nil {
		source.Close()
		if none := askPage(ctx, p.Hub); none != nil {
			return nil, nil, none
		}
		err = noPage(p.Hub, err)
	}
	switch {
	case errors.Is(err, trust.ErrNotFound):
		return nil, nil, fmt.Errorf("the hub at %s publishes nothing yet: docent gallery publish", p.Hub)
	case err != nil:
		return nil, nil, err
	}
	return set, source, nil
}

type galleryBundleCmd struct {
	File string `arg:"" type:"path" help:"File to write, such as release-5.docent; kiosks find it on a stick by that ending."`
	published
}

func (c galleryBundleCmd) Run(ctx context.Context, t *terminal) error {
	if filepath.Ext(c.File) != export.Suffix {
		return usageError{fmt.Errorf("%s: give a name that ends in %s, or kiosks do not find it", c.File, export.Suffix)}
	}
	set, source, err := c.find(ctx, false)
	if err != nil {
		return err
	}
	defer source.Close()
	now := time.Now()
	if err := set.WriteFile(ctx, source, c.File, now); err != nil {
		return err
	}
	l := set.Label(now)
	_, err = fmt.Fprintf(t.out, "Release %d (%s) is in %s: %s, %.1f MB. Kiosks take it until %s.\nCopy it to a stick and unmount that; or on a kiosk's machine: docent install %s\n",
		l.Number, l.ReleaseID, c.File, count(l.Objects, "object"), float64(l.Bytes)/1e6, l.Expires.Local().Format("2006-01-02 15:04"), filepath.Base(c.File))
	return err
}

type galleryMirrorCmd struct {
	Dir string `arg:"" type:"path" help:"Folder that a web server serves over HTTPS."`
	published
}

func (c galleryMirrorCmd) Run(ctx context.Context, t *terminal) error {
	set, source, err := c.find(ctx, true)
	if err != nil {
		return err
	}
	defer source.Close()
	w, err := set.WriteFolder(ctx, source, c.Dir)
	if err != nil {
		return err
	}
	if err := durable.SyncDir(c.Dir); err != nil {
		return err
	}
	newest := set.Releases[len(set.Releases)-1]
	_, err = fmt.Fprintf(t.out, "%s holds %s, the newest is %d (%s): %s written, %.1f MB, %d old ones removed. Kiosks without a hub take it until %s.\n",
		c.Dir, count(len(set.Releases), "release"), newest.Number, newest.ReleaseID, count(w.Objects, "object"), float64(w.Bytes)/1e6, w.Removed, set.Expires.Local().Format("2006-01-02 15:04"))
	return err
}
