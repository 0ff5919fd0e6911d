package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"docent/kiosk"
	"docent/localindex/sample"
	"docent/sync/hub"
	"docent/sync/update/trust"
)

type demoCmd struct {
	Listen    string `default:"127.0.0.1:8080" help:"Address of the visitor's page."`
	HubListen string `default:"127.0.0.1:8081" help:"Address of the hub's page."`
	Photos    string `xor:"camera" help:"Folder of photos to use instead of a camera." placeholder:"DIR"`
	Camera    string `xor:"camera" help:"Camera to use: /dev/video0, rtsp://…, http://… or a video file." placeholder:"SRC"`
	Gallery   string `help:"Show this gallery's folder instead of the sample." type:"existingdir" placeholder:"DIR"`
	Dir       string `help:"Folder for everything the demo keeps; by default in your cache folder." placeholder:"DIR"`
}

const (
	demoSite  = "demo"
	demoKiosk = "kiosk-1"

	// makingPrefix begins the name of a folder that a demo's house is being made in.
	makingPrefix = "making-"
)

func (c demoCmd) Run(ctx context.Context, t *terminal) error {
	dir, err := c.dir()
	if err != nil {
		return err
	}
	lock, err := lockDemo(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	for _, address := range []string{c.Listen, c.HubListen} {
		if err := canListen(ctx, address); err != nil {
			return err
		}
	}
	house, err := prepareDemo(ctx, t, dir, c.Gallery)
	if err != nil {
		return err
	}

	keys := filepath.Join(dir, "keys")
	if err := demoKeys(keys, filepath.Join(dir, "hub", "content")); err != nil {
		return err
	}
	h, err := hub.New(hub.Config{
		Dir: filepath.Join(dir, "hub"), MQTTListen: "127.0.0.1:0", HTTPListen: c.HubListen, Site: demoSite, Logger: t.log,
		Clear: true, // on this machine alone
	})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return h.Run(ctx) })
	group.Go(func() error {
		select {
		case <-h.Ready():
		case <-ctx.Done():
			return nil // the hub's own error is the one to report
		}
		return runAppliance(ctx, c.config(dir, house, h), t.log, func(address string) {
			fmt.Fprintf(t.out, "\n  Visitor's page   http://%s\n  Hub              http://%s\n\n", address, h.HTTPAddr())
			fmt.Fprintln(t.out, c.cameraNote(house), "Stop with Ctrl-C.")
			fmt.Fprintf(t.out, "To show other content: docent gallery build DIR --number 2 --out RELEASE, then\n"+
				"docent gallery sign RELEASE --keys %s --out BUNDLE, then docent gallery publish BUNDLE --hub http://%s\n", keys, h.HTTPAddr())
		})
	})
	return group.Wait()
}

// demoKeys makes the keys that releases for the demo are signed with, and the root that its kiosk trusts.
func demoKeys(keys, hubContent string) error {
	h, err := trust.OpenHub(hubContent)
	if err != nil {
		return err
	}
	_, err = trust.OpenAuthor(keys, h.Public(), time.Now)
	return err
}

func (c demoCmd) dir() (string, error) {
	if c.Dir != "" {
		return c.Dir, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the demo (choose one with --dir): %w", err)
	}
	return filepath.Join(cache, "docent", "demo"), nil
}

// errDemoRuns is the error for a folder that another demo has.
var errDemoRuns = errors.New("another demo runs there; choose another folder with --dir")

// lockDemo makes the demo's folder and takes it for this process, so that no second demo replaces the gallery below the
// first, and removes what a demo left half made that was killed. The kernel gives the folder back when the process ends.
func lockDemo(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder for the demo: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("take folder for the demo: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		lock.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errDemoRuns
		}
		return nil, fmt.Errorf("take folder %s for the demo: %w", dir, err)
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), makingPrefix) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("clear folder for the demo: %w", err)
	}
	return lock, nil
}

// canListen says before the long preparation what would fail after it.
func canListen(ctx context.Context, address string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("open a page for the demo (choose another address with --listen and --hub-listen): %w", err)
	}
	return l.Close()
}

func (c demoCmd) config(dir string, house demoHouse, h *hub.Hub) kiosk.Config {
	k := kiosk.DefaultConfig()
	k.Site, k.Kiosk = demoSite, demoKiosk
	k.Listen = c.Listen
	k.DataDir = filepath.Join(dir, "kiosk")
	k.Release = house.release
	k.Hub.Broker = "tcp://" + h.MQTTAddr()
	k.Hub.Root = filepath.Join(dir, "keys", "metadata", "1.root.json")
	switch {
	case c.Camera != "":
		k.Camera.Source = c.Camera
	case c.Photos != "":
		k.Camera.Source = c.Photos
	default:
		k.Camera.Source = house.photos
	}
	return k
}

func (c demoCmd) cameraNote(house demoHouse) string {
	switch {
	case c.Camera != "":
		return "The camera is " + c.Camera + "."
	case c.Photos != "":
		return "The camera shows the photos in " + c.Photos + "."
	default:
		return "There is no camera: rendered visitors' photos of the gallery take its place, a new one every few seconds."
	}
}

// demoHouse is what the demo shows.
type demoHouse struct {
	release string // folder
	photos  string // folder of rendered visitors' photos
}

// prepareDemo makes the gallery, its release and the photos below dir, unless this very program has made them before.
// They are made in a folder beside and moved into place whole, so that an interrupted start leaves nothing half made.
func prepareDemo(ctx context.Context, t *terminal, dir, gallery string) (demoHouse, error) {
	made := filepath.Join(dir, "house")
	house := demoHouse{release: filepath.Join(made, "release"), photos: filepath.Join(made, "photos")}
	stamp, err := demoStamp(gallery)
	if err != nil {
		return demoHouse{}, err
	}
	if old, err := os.ReadFile(filepath.Join(made, "stamp")); err == nil && string(old) == stamp {
		return house, nil
	}

	fmt.Fprintln(t.out, "Preparing the gallery, once; it takes about a minute.")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return demoHouse{}, fmt.Errorf("make folder for the demo: %w", err)
	}
	making, err := os.MkdirTemp(dir, makingPrefix)
	if err != nil {
		return demoHouse{}, fmt.Errorf("make folder for the demo: %w", err)
	}
	defer os.RemoveAll(making)
	if gallery == "" {
		gallery = filepath.Join(making, "gallery")
		fmt.Fprintln(t.out, "  drawing the exhibits")
		if err := sample.Write(ctx, gallery); err != nil {
			return demoHouse{}, err
		}
	}
	fmt.Fprintln(t.out, "  packing a release")
	_, problems, err := buildRelease(ctx, t, gallery, filepath.Join(making, "release"), "", 1)
	if err != nil {
		printProblems(t.err, problems)
		return demoHouse{}, err
	}
	fmt.Fprintln(t.out, "  photographing it as visitors do")
	if err := renderVisitors(ctx, filepath.Join(making, "release"), filepath.Join(making, "photos")); err != nil {
		return demoHouse{}, err
	}
	if err := os.WriteFile(filepath.Join(making, "stamp"), []byte(stamp), 0o600); err != nil {
		return demoHouse{}, fmt.Errorf("finish the demo's folder: %w", err)
	}
	if err := os.RemoveAll(made); err != nil {
		return demoHouse{}, fmt.Errorf("remove the demo's old gallery: %w", err)
	}
	if err := os.Rename(making, made); err != nil {
		return demoHouse{}, fmt.Errorf("put the demo's gallery in place: %w", err)
	}
	return house, nil
}

// demoStamp names the program and the gallery that a demo's house was made by and from: their files, sizes and times.
func demoStamp(gallery string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program's file: %w", err)
	}
	info, err := os.Stat(program)
	if err != nil {
		return "", fmt.Errorf("look at this program's file: %w", err)
	}
	h := sha256.New()
	fmt.Fprintln(h, info.Size(), info.ModTime().UnixNano(), gallery)
	if gallery != "" {
		err := filepath.WalkDir(gallery, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
			return err
		})
		if err != nil {
			return "", fmt.Errorf("look at gallery %s: %w", gallery, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
