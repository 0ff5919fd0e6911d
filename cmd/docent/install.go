package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"docent/internal/durable"
	"docent/internal/space"
	"docent/kiosk"
	"docent/sync/update"
	"docent/sync/update/export"
	"docent/sync/update/stick"
)

type installCmd struct {
	File   string        `arg:"" type:"existingfile" help:"Bundle file, as docent gallery bundle wrote it."`
	Config string        `help:"YAML file of the kiosk's settings." type:"existingfile" placeholder:"FILE"`
	Wait   time.Duration `default:"1h" help:"How long to tell how it goes; 0 only leaves the file where the kiosk finds it."`
}

// How often the kiosk's word is looked for, and after how long without one it is taken not to run.
const (
	installLook   = 300 * time.Millisecond
	installSilent = 20 * time.Second
)

func (c installCmd) Run(ctx context.Context, t *terminal) error {
	config, err := loadSettings(c.Config, kiosk.DefaultConfig())
	if err != nil {
		return err
	}
	if config.Hub.Root == "" {
		return usageError{errors.New("the kiosk's settings name no hub.root, by which it would know whose content to trust")}
	}
	f, err := stick.Open(c.File)
	if err != nil {
		return err
	}
	l := f.Label()
	fmt.Fprintf(t.out, "%s: release %d (%s), %s, good until %s\n", filepath.Base(c.File), l.Number, l.ReleaseID, count(l.Objects, "object"), l.Expires.Local().Format("2006-01-02 15:04"))
	name, err := leave(c.File, inbox(config))
	if err != nil {
		return err
	}
	if c.Wait == 0 {
		_, err = fmt.Fprintln(t.out, "It lies where the kiosk finds it.")
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	return followInstall(ctx, t.out, inbox(config), name)
}

// leave copies a file into the inbox, where it appears whole.
func leave(file, dir string) (name string, err error) {
	if err := os.MkdirAll(dir, 0o775); err != nil {
		return "", fmt.Errorf("leave file for the kiosk: %w", err)
	}
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return "", err
	}
	free, err := space.Free(dir)
	if err != nil {
		return "", err
	}
	if need := 2*uint64(info.Size()) + update.DefaultMinFree; free < need { // here, and as a release
		return "", fmt.Errorf("there is too little room in %s: %d MiB are needed, %d are free", dir, need>>20, free>>20)
	}
	name = strings.TrimSuffix(strings.TrimLeft(filepath.Base(file), "."), filepath.Ext(file)) + export.Suffix
	out, err := os.CreateTemp(dir, ".coming-")
	if err != nil {
		return "", fmt.Errorf("leave file for the kiosk: %w", err)
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(0o644), out.Sync(), out.Close())
	if err == nil {
		err = forgetNote(dir)
	}
	if err == nil {
		err = os.Rename(out.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("leave file for the kiosk: %w", err), os.Remove(out.Name()))
	}
	return name, durable.SyncDir(dir)
}

// forgetNote removes what was said of a file before.
func forgetNote(dir string) error {
	err := os.Remove(filepath.Join(dir, stick.NoteFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// followInstall prints what the kiosk says of a file until that is done with.
func followInstall(ctx context.Context, out io.Writer, dir, name string) error {
	tick := time.NewTicker(installLook)
	defer tick.Stop()
	began, said, spoke := time.Now(), "", false
	for {
		n, ok := stick.ReadNote(dir)
		if ok && n.File == name {
			if spoke = true; n.Text != said {
				said = n.Text
				fmt.Fprintln(out, said)
			}
			switch {
			case n.Done && n.OK:
				return nil
			case n.Done:
				return errors.New(name + " was not installed")
			}
		}
		if !spoke && time.Since(began) > installSilent {
			_, err := fmt.Fprintf(out, "No kiosk takes it now. It lies in %s and is installed when the kiosk starts.\n", dir)
			return err
		}
		select {
		case <-ctx.Done():
			_, err := fmt.Fprintln(out, "The kiosk goes on with it.")
			return err
		case <-tick.C:
		}
	}
}
