package stick_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"docent/localindex/release"
	"docent/sync/update"
	"docent/sync/update/export"
	"docent/sync/update/internal/house"
	"docent/sync/update/stick"
	"docent/sync/update/trust"
	"docent/sync/update/ways"
	"docent/sync/wire"
)

// stage shows whatever it is given, when nobody is there.
type stage struct {
	mu    sync.Mutex
	busy  bool
	shown string
}

func (s *stage) Check(ctx context.Context, dir string) error {
	_, err := release.Verify(ctx, dir)
	return err
}

func (s *stage) Switch(_ context.Context, dir string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = dir
	return nil
}

func (s *stage) Healthy(context.Context) error { return nil }

func (s *stage) Unattended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.busy
}

func (s *stage) set(busy bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = busy
}

// slow lets one block through at a time, when it is told to.
type slow struct {
	ways.Source
	mu   sync.Mutex
	gate chan struct{} // nil: all go through
	done atomic.Int32  // that went through a gate, and have ended
}

func (s *slow) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil && wire.ValidObject(req.Name) {
		select {
		case <-gate:
			defer s.done.Add(1)
		case <-ctx.Done():
			return wire.Chunk{}, ctx.Err()
		}
	}
	return s.Source.Fetch(ctx, req)
}

// kiosk is a kiosk that sticks are plugged into.
type kiosk struct {
	t       *testing.T
	media   string
	inbox   string
	stage   *stage
	sticks  *stick.Watcher
	updater *update.Updater
	slow    *slow
}

// start runs a kiosk that shows release 1 of a house and trusts it. hub is nil for one without a network.
func start(t *testing.T, h *house.House, hub ways.Source) *kiosk {
	t.Helper()
	dir := t.TempDir()
	k := &kiosk{t: t, media: filepath.Join(dir, "media"), inbox: filepath.Join(dir, "inbox"), stage: &stage{}}
	store, err := update.OpenStore(filepath.Join(dir, "content"), house.Pack(t, 1, 10), h.Now)
	if err != nil {
		t.Fatal(err)
	}
	client, err := trust.NewClient(filepath.Join(dir, "metadata"), h.Root())
	if err != nil {
		t.Fatal(err)
	}
	var over *ways.Ways
	k.sticks = stick.NewWatcher(stick.Options{
		Folders: []string{k.media}, Inbox: k.inbox, Every: 5 * time.Millisecond, Now: h.Now,
		Install: func(ctx context.Context, f *stick.File) (wire.Deploy, error) {
			return k.updater.Look(ctx, over.With(f))
		},
		Found: func() { k.updater.Desired() },
	})
	k.slow = &slow{Source: k.sticks}
	over = ways.New(ways.Options{Sticks: k.slow, Hub: hub})
	k.updater, err = update.New(update.Options{
		Store: store, Trust: client, Source: over, Content: k.stage, Report: k.sticks.Heard,
		Free: func(string) (uint64, error) { return 1 << 40, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{k.updater.Run, k.sticks.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	t.Cleanup(func() { cancel(); running.Wait() })
	return k
}

// bundle writes what a house publishes to a file in a folder.
func bundle(t *testing.T, h *house.House, path string) {
	t.Helper()
	set, err := export.Find(t.Context(), h, export.Options{Now: h.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := set.WriteFile(t.Context(), h, path, h.Now()); err != nil {
		t.Fatal(err)
	}
}

// says waits until the diagnostics page says something.
func (k *kiosk) says(what string) {
	k.t.Helper()
	eventually(k.t, func() bool { return strings.Contains(k.sticks.String(), what) }, func() string { return what + ", but it says: " + k.sticks.String() })
}

func eventually(t *testing.T, done func() bool, what func() string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what())
		}
	}
}

func (k *kiosk) shows() string {
	k.stage.mu.Lock()
	defer k.stage.mu.Unlock()
	return filepath.Base(k.stage.shown)
}

func TestStickIsInstalled(t *testing.T) {
	h := house.New(t)
	k := start(t, h, nil)
	x := h.Publish(house.Pack(t, 2, 10, 3, 4))
	k.stage.set(true)
	bundle(t, h, filepath.Join(k.media, "user", "STICK", "release-2.docent"))
	k.says("all of release 2 is here, the stick may be pulled; it is shown when nobody is at the screen")
	if k.shows() == x.ReleaseID {
		t.Error("it is shown while somebody is there")
	}
	k.stage.set(false)
	k.says("release 2 is shown, the stick may be pulled")
	if k.shows() != x.ReleaseID {
		t.Errorf("shown is %s", k.shows())
	}
	if err := os.RemoveAll(filepath.Join(k.media, "user")); err != nil {
		t.Fatal(err)
	}
	k.says("release 2 is shown, the stick may be pulled (") // for whoever reads it afterwards
	h.Pass(25 * time.Hour)
	if s := k.sticks.String(); s != "" {
		t.Errorf("the day after: %s", s)
	}
}

// TestRefusedInPlainWords: each is refused for its own reason, and what is shown stays.
func TestRefusedInPlainWords(t *testing.T) {
	h, foreign := house.New(t), house.New(t)
	k := start(t, h, nil)
	on := func(name string) string { return filepath.Join(k.media, name+".docent") }
	release2, release3 := house.Pack(t, 2, 10, 3), house.Pack(t, 3, 10, 3, 4)

	foreign.Publish(release2)
	bundle(t, foreign, on("foreign"))
	k.says("refused: it is not signed with the keys of this house")

	old := filepath.Join(t.TempDir(), "old")
	h.Publish(release2)
	bundle(t, h, old)
	h.Pass(time.Hour)
	shown := h.Publish(release3)
	bundle(t, h, on("new"))
	k.says("release 3 is shown")
	whole, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(on(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("old", whole)
	k.says("refused: it is older than what this kiosk has heard since")
	put("torn", whole[:len(whole)*2/3])
	k.says("refused: the file is not whole, copy it again")
	put("letter", []byte("Dear technician"))
	k.says("refused: the file is none that docent gallery bundle wrote")

	h.Pass(time.Hour)
	h.Publish(house.Pack(t, 4, 10, 3, 4, 5))
	late := filepath.Join(t.TempDir(), "late")
	bundle(t, h, late)
	data, err := os.ReadFile(late)
	if err != nil {
		t.Fatal(err)
	}
	h.Pass(8 * 24 * time.Hour)
	put("late", data)
	k.says("refused: it has run out; write a new one. If this kiosk's clock is wrong (it says 2026-05-12")

	h.Publish(house.Pack(t, 5, 10, 6))
	bundle(t, h, late)
	if data, err = os.ReadFile(late); err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(data), "changed 6 in 5")
	if at < 0 {
		t.Fatal("no changed picture in the bundle")
	}
	data[at] ^= 1
	put("changed", data)
	k.says("refused: some of it is not what was signed")
	if k.shows() != shown.ReleaseID {
		t.Errorf("shown is %s", k.shows())
	}
}

// TestPulledInTheMiddle: nothing is lost. What was read stays, and the rest comes when the stick is back, or from the hub.
func TestPulledInTheMiddle(t *testing.T) {
	for _, network := range []bool{false, true} {
		t.Run(map[bool]string{false: "without a network", true: "with the hub"}[network], func(t *testing.T) {
			h := house.New(t)
			var hub ways.Source
			if network {
				hub = &onlyObjects{h} // so that only the stick can have begun it
			}
			k := start(t, h, hub)
			k.slow.mu.Lock()
			k.slow.gate = make(chan struct{})
			k.slow.mu.Unlock()
			x := h.Publish(house.Pack(t, 2, 10, 1, 2, 3, 4, 5, 6, 7, 8))
			path := filepath.Join(k.media, "STICK", "2.docent")
			bundle(t, h, path)
			for range 8 { // some blocks are read
				k.slow.gate <- struct{}{}
			}
			eventually(t, func() bool { return k.slow.done.Load() == 8 }, func() string { return "the blocks are read" })
			safe := filepath.Join(t.TempDir(), "safe")
			move(t, path, safe)
			k.says("the stick was pulled, release 2 is not whole yet")
			close(k.slow.gate)
			if !network {
				k.says("not all of it could be read; plug it in again")
				if k.shows() == x.ReleaseID {
					t.Error("it is shown")
				}
				move(t, safe, path)
			}
			k.says("release 2 is shown")
			if k.shows() != x.ReleaseID {
				t.Errorf("shown is %s", k.shows())
			}
			size := int64(0)
			for _, f := range x.Files {
				size += f.Size
			}
			sent, _ := h.Sent()
			if network && (sent == 0 || int64(sent) > 2*size) {
				t.Errorf("the hub sent %d bytes", sent)
			}
		})
	}
}

// onlyObjects is a hub whose wishes do not arrive, but its objects do.
type onlyObjects struct{ *house.House }

func (o *onlyObjects) Fetch(ctx context.Context, req wire.Fetch) (wire.Chunk, error) {
	if !wire.ValidObject(req.Name) {
		return wire.Chunk{Name: req.Name, Error: wire.FetchNotFound}, nil
	}
	return o.House.Fetch(ctx, req)
}

func move(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(from); err != nil {
		t.Fatal(err)
	}
}

// TestNewerStick: one that is plugged in while an older is read goes first.
func TestNewerStick(t *testing.T) {
	h := house.New(t)
	k := start(t, h, nil)
	k.slow.mu.Lock()
	k.slow.gate = make(chan struct{})
	k.slow.mu.Unlock()
	h.Publish(house.Pack(t, 2, 10, 1, 2))
	bundle(t, h, filepath.Join(k.media, "A", "2.docent"))
	k.slow.gate <- struct{}{}
	h.Pass(time.Hour)
	x := h.Publish(house.Pack(t, 3, 10, 1, 2, 3))
	bundle(t, h, filepath.Join(k.media, "B", "3.docent"))
	k.says("release 3 is read")
	close(k.slow.gate)
	k.says("release 3 is shown")
	eventually(t, func() bool { return k.shows() == x.ReleaseID }, k.shows)
}

// TestWaitsForAnotherRelease: one that waits to be shown is not interrupted, and the page does not say of it what holds of
// the stick's.
func TestWaitsForAnotherRelease(t *testing.T) {
	h := house.New(t)
	k := start(t, h, nil)
	k.stage.set(true)
	h.Publish(house.Pack(t, 2, 10, 1))
	bundle(t, h, filepath.Join(k.media, "A", "2.docent"))
	k.says("all of release 2 is here")
	h.Pass(time.Hour)
	x := h.Publish(house.Pack(t, 3, 10, 1, 2))
	bundle(t, h, filepath.Join(k.media, "B", "3.docent"))
	k.says("release 3 waits until the kiosk is done with release 2")
	k.stage.set(false)
	k.says("release 3 is shown")
	eventually(t, func() bool { return k.shows() == x.ReleaseID }, k.shows)
}

// TestInbox: what docent install has put there is told about, and removed when it is done with.
func TestInbox(t *testing.T) {
	h := house.New(t)
	k := start(t, h, nil)
	h.Publish(house.Pack(t, 2, 10, 1, 2))
	path := filepath.Join(k.inbox, "2.docent")
	bundle(t, h, path)
	note := func() stick.Note { n, _ := stick.ReadNote(k.inbox); return n }
	eventually(t, func() bool { return note().Done }, func() string { return k.sticks.String() })
	if n := note(); !n.OK || n.File != "2.docent" || n.Text != "release 2 is shown" {
		t.Errorf("%+v", n)
	}
	eventually(t, func() bool { _, err := os.Stat(path); return err != nil }, func() string { return "the file is still there" })
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return note().Done && !note().OK }, func() string { return k.sticks.String() })
}

// TestWhereItLooks: two folders deep, and not at what is hidden, linked or of another kind.
func TestWhereItLooks(t *testing.T) {
	h := house.New(t)
	k := start(t, h, nil)
	h.Publish(house.Pack(t, 2, 10, 1))
	elsewhere := filepath.Join(t.TempDir(), "a.docent")
	bundle(t, h, elsewhere)
	for _, name := range []string{"u/s/deep/a.docent", "u/._a.docent", ".hidden/a.docent", "u/a.docent.part", "u/a.tar"} {
		bundle(t, h, filepath.Join(k.media, name))
	}
	if err := os.Symlink(elsewhere, filepath.Join(k.media, "u", "link.docent")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(k.media, "folder.docent"), 0o755); err != nil {
		t.Fatal(err)
	}
	foreign := house.New(t)
	foreign.Publish(house.Pack(t, 9, 3))
	bundle(t, foreign, filepath.Join(k.media, "u", "s", "Z.DOCENT")) // as FAT may write it; found, so all others were looked at
	k.says("Z.DOCENT: refused")
	for range 10 {
		time.Sleep(5 * time.Millisecond)
		if !strings.Contains(k.sticks.String(), "Z.DOCENT") || k.shows() != "." {
			t.Fatalf("%s; shown is %s", k.sticks, k.shows())
		}
	}
}
