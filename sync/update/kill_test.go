package update

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// A child of this test binary follows a house and kills itself at a durable step, as a power cut would.
const (
	envChild = "DOCENT_UPDATE_CHILD" // folder of the house, of the kiosk, the first release, the point, and whether the release is bad
	sep      = "\x1f"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(envChild); spec != "" {
		m.Run() // runs TestChild alone, by the flags of the command
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestChild(t *testing.T) {
	spec := os.Getenv(envChild)
	if spec == "" {
		t.Skip("only a part of TestKilledAtEachStep")
	}
	p := strings.Split(spec, sep)
	h := openHouse(t, p[0])
	root, err := os.ReadFile(filepath.Join(p[0], "trusted.json"))
	if err != nil {
		t.Fatal(err)
	}
	k := &kiosk{t: t, dir: p[1], factory: p[2], root: root, stage: &stage{}, free: 1 << 40}
	if p[4] != "" {
		k.stage.dislike = dislikeShown(p[4])
	}
	u := k.start(h)
	u.s.crash = func(point string) {
		if point == p[3] {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
			select {}
		}
	}
	if err := errors.Join(u.resume(t.Context()), u.once(t.Context())); err != nil {
		t.Log(err)
	}
}

func dislikeShown(id string) func(string, bool) error {
	return func(dir string, shown bool) error {
		if shown && filepath.Base(dir) == id {
			return errors.New("a search found nothing")
		}
		return nil
	}
}

// openHouse opens what a house published.
func openHouse(t testing.TB, dir string) *house {
	t.Helper()
	hub, err := trust.OpenHub(filepath.Join(dir, "hub"))
	if err != nil {
		t.Fatal(err)
	}
	return &house{t: t, now: epoch, hub: hub, objects: filepath.Join(dir, "objects"), asked: map[string]int{}}
}

// TestKilledAtEachStep kills the kiosk at each durable step of a deployment, of a good release and of one that is
// taken back: what is shown after the kill is the old release or the new, whole, and at the next start all ends well.
func TestKilledAtEachStep(t *testing.T) {
	points := []string{"saved pending", "saved downloading", "saved downloaded", "assembled", "saved verifying",
		"saved pause_before_installing", "saved installing", "shown", "saved pause_before_committing", "saved success"}
	for _, from := range []string{"first", "update"} {
		for _, bad := range []bool{false, true} {
			for _, point := range points {
				if bad && point == "saved success" {
					point = "rolled back"
				}
				if bad && !strings.Contains("shown saved pause_before_committing rolled back", point) {
					continue // the same as for a good one
				}
				name := fmt.Sprintf("%s/%s", from, strings.ReplaceAll(point, " ", "_"))
				if bad {
					name += "/bad"
				}
				t.Run(name, func(t *testing.T) { killed(t, from, point, bad) })
			}
		}
	}
}

func killed(t *testing.T, from, point string, bad bool) {
	dir := t.TempDir()
	h := newHouse(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "trusted.json"), h.root(), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKiosk(t, pack(t, 1, 3), h.root())
	if from == "update" {
		h.publish(pack(t, 2, 3, 0))
		if err := k.follow(h); err != nil {
			t.Fatal(err)
		}
	}
	before := k.shows()
	x := h.publish(pack(t, 3, 3, 1))
	dislike := ""
	if bad {
		dislike = x.ReleaseID
	}
	child := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	child.Env = append(os.Environ(), envChild+"="+strings.Join([]string{dir, k.dir, k.factory, point, dislike}, sep))
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child did not die of the kill: %v\n%s", err, out)
	}
	if got := k.shows(); got != before && got != x.ReleaseID {
		t.Errorf("after the kill it shows %s", got)
	}
	k.reports = nil
	if bad {
		k.stage.dislike = dislikeShown(x.ReleaseID)
	}
	err = k.follow(h)
	want := x.ReleaseID
	if bad {
		want = before
	} else if err != nil {
		t.Error(err)
	}
	if k.shows() != want {
		t.Errorf("in the end it shows %s, want %s: %s, %v", k.shows(), want, k.statuses(), err)
	}
	if point == "saved success" {
		return
	}
	l := k.last()
	if !bad && (l.Status != wire.DeploySuccess || !l.Resumed) || bad && (l.Status != wire.DeployFailure || !l.RolledBack) {
		t.Errorf("last report %+v", l)
	}
}

// TestReleaseThatEndsTheProgram starts again and again with a release that was never found good.
func TestReleaseThatEndsTheProgram(t *testing.T) {
	h := newHouse(t, t.TempDir())
	k := newKiosk(t, pack(t, 1, 3), h.root())
	before := k.shows()
	x := h.publish(pack(t, 2, 3, 1))
	u := k.start(h)
	u.s.crash = func(point string) {
		if point == "shown" {
			panic("the program ends")
		}
	}
	func() {
		defer func() { _ = recover() }()
		_ = u.once(t.Context())
	}()
	for range maxAttempts {
		if k.start(h); k.shows() != x.ReleaseID {
			t.Fatalf("shows %s too early", k.shows())
		}
	}
	if err := k.follow(h); err != nil || k.shows() != before {
		t.Errorf("%v, shows %s", err, k.shows())
	}
	if st := k.start(h).State(); !st.RolledBack || st.Code != "ended_the_program" || st.FailedNumber != 2 {
		t.Errorf("state %+v", st)
	}
}

// FuzzDecodeIndex feeds the index decoder.
func FuzzDecodeIndex(f *testing.F) {
	good := bundle.Index{Format: 1, ReleaseID: "2-abc", Number: 2, Files: []bundle.File{{Path: "a/b", Size: 3, Chunks: []bundle.Chunk{{SHA256: bundle.Sum(nil), Size: 3}}}}}
	data, err := good.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"format":1,"release_id":"../x","files":[{"path":"../../etc/passwd"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := bundle.Decode(data)
		if err != nil {
			return
		}
		for _, file := range x.Files {
			if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
				t.Errorf("accepted the path %q", file.Path)
			}
		}
		if _, err := x.Encode(); err != nil {
			t.Error(err)
		}
	})
}
