package update

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"docent/internal/durable"
	"docent/localindex/release"
	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// download fetches what is missing of a release and puts it whole among the releases.
func (u *Updater) download(ctx context.Context, f *fetcher, st *State, t trust.Target) error {
	st.Status = wire.DeployDownloading
	if err := u.set(st); err != nil {
		return err
	}
	objects := filepath.Join(u.s.incoming(), "objects")
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return err
	}
	if t.Length > bundle.MaxIndex {
		return &objectError{"bad_index", fmt.Errorf("the index has %d bytes", t.Length)}
	}
	if err := f.object(ctx, objects, bundle.Chunk{SHA256: t.SHA256, Size: t.Length}); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(objects, t.SHA256))
	if err != nil {
		return err
	}
	x, err := bundle.Decode(data)
	if err == nil && (x.ReleaseID != t.ReleaseID || x.Number != t.Number) {
		err = fmt.Errorf("it is of release %s", x.ReleaseID)
	}
	if err != nil {
		return &objectError{"bad_index", err}
	}
	if err := tidy(objects, x, t.SHA256); err != nil {
		return err
	}
	f.room = u.room
	tree := filepath.Join(u.s.incoming(), "tree")
	have := u.s.inventory(ctx, u.installed()...)
	err = u.gather(ctx, f, st, x, have, objects, tree)
	if errors.Is(err, errNotTheRelease) {
		// Something that is installed is damaged and was built in.
		u.opt.Logger.Warn("installed content is damaged and not used", "err", err)
		err = u.gather(ctx, f, st, x, u.s.sound(ctx, have, u.installed()...), objects, tree)
	}
	if errors.Is(err, errNotTheRelease) {
		return &objectError{"not_the_release", err}
	}
	if err != nil {
		return err
	}
	u.s.crash("assembled")
	if err := u.s.fail("assembled"); err != nil {
		return err
	}
	dst := u.s.release(x.ReleaseID)
	if err := os.RemoveAll(dst); err != nil { // left by an attempt before; what is shown has another id
		return err
	}
	if err := durable.WriteFile(filepath.Join(u.s.dir, "indexes", x.ReleaseID), data, 0o600); err != nil {
		return err
	}
	if err := os.Rename(tree, dst); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(dst))
}

// gather fetches what is neither installed nor fetched yet, and builds and verifies the release in tree.
func (u *Updater) gather(ctx context.Context, f *fetcher, st *State, x bundle.Index, have map[string]place, objects, tree string) error {
	want, size := missing(x, have, objects)
	if err := u.checkFree(x, have, size); err != nil {
		return err
	}
	f.done.Store(0)
	st.Of = size
	stop := u.progress(f, *st)
	err := f.objects(ctx, objects, want)
	stop()
	if err != nil {
		return err
	}
	st.Done = size
	st.Status = wire.DeployDownloaded
	if err := u.set(st); err != nil {
		return err
	}
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	if err := os.MkdirAll(tree, 0o755); err != nil {
		return err
	}
	if err := assemble(ctx, x, have, objects, tree); err != nil {
		return err
	}
	if _, err := release.Verify(ctx, tree); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errNotTheRelease, err)
	}
	return ctx.Err()
}

// tidy removes what was fetched for another release and is of no use for this one.
func tidy(objects string, x bundle.Index, index string) error {
	wanted := map[string]bool{index: true}
	for _, f := range x.Files {
		for _, c := range f.Chunks {
			wanted[c.SHA256] = true
		}
	}
	entries, err := os.ReadDir(objects)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !wanted[strings.TrimSuffix(e.Name(), ".part")] {
			if err := os.Remove(filepath.Join(objects, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// installed lists the folders of the releases that are here.
func (u *Updater) installed() []string {
	dirs := []string{u.s.Shown()}
	if u.s.factory != dirs[0] {
		dirs = append(dirs, u.s.factory)
	}
	entries, err := os.ReadDir(filepath.Join(u.s.dir, "releases"))
	if err != nil {
		return dirs
	}
	for _, e := range entries {
		if d := u.s.release(e.Name()); d != dirs[0] {
			dirs = append(dirs, d)
		}
	}
	return dirs
}

// checkFree makes sure that what is to be fetched and built fits on the disk.
func (u *Updater) checkFree(x bundle.Index, have map[string]place, size int64) error {
	need := uint64(size)
	for _, f := range x.Files {
		if len(f.Chunks) > 1 { // others are linked
			need += uint64(f.Size)
		}
	}
	free, err := u.opt.Free(u.s.dir)
	if err != nil {
		return err
	}
	if free < need+u.opt.MinFree {
		return &objectError{"disk_full", fmt.Errorf("%d MiB are needed beside %d MiB that stay free, there are %d", need>>20, u.opt.MinFree>>20, free>>20)}
	}
	return nil
}

// room makes sure that others have not filled the disk meanwhile: what is fetched stops before they do.
func (u *Updater) room() error {
	if err := u.s.fail("block"); err != nil {
		return err
	}
	free, err := u.opt.Free(u.s.dir)
	if err != nil {
		return err
	}
	if free < u.opt.MinFree/2 {
		return &objectError{"disk_full", fmt.Errorf("the disk has filled up: %d MiB are free", free>>20)}
	}
	return nil
}

// progress reports how much has come, until stop is called.
func (u *Updater) progress(f *fetcher, st State) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				st.Done = f.done.Load()
				u.report(st.Deploy)
			}
		}
	}()
	return func() { close(quit); <-ended }
}
