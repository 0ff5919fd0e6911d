package update

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"docent/sync/update/bundle"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// A child of this test binary follows a house and kills itself at a durable step, as a power cut would.
const (
	envChild = "DOCENT_UPDATE_CHILD" // see TestChild
	sep      = "\x1f"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(envChild); spec != "" {
		m.Run() // runs TestChild alone, by the flags of the command
		os.Exit(0)
	}
	os.Exit(run(m))
}

// run keeps the kiosks and houses of the short form in memory: there a sync costs nothing, and a killed program loses no
// more than on a disk.
func run(m *testing.M) int {
	if os.Getenv("DOCENT_FAULTS") == "1" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("/dev/shm", "docent-update-")
	if err != nil {
		return m.Run() // there is no such folder
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("TMPDIR", dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// TestChild is a kiosk that dies. It is told the folders of the house and of the kiosk, the first release, the point at
// which to die, which release is bad, if any, and in which state the rollout is aborted, if at all.
func TestChild(t *testing.T) {
	spec := os.Getenv(envChild)
	if spec == "" {
		t.Skip("only a part of the tests that kill a kiosk")
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
	if p[5] != "" {
		abortIn(u, k, h, wire.DeployStatus(p[5]))
	}
	if err := errors.Join(u.resume(t.Context()), u.once(t.Context())); err != nil {
		t.Log(err)
	}
}

// abortIn has the hub abort the rollout when the kiosk comes to a state, and keeps it there until it has heard.
func abortIn(u *Updater, k *kiosk, h *house, state wire.DeployStatus) {
	told := false
	tell := func() {
		if !told {
			told = true
			data, err := os.ReadFile(h.wish)
			if err != nil {
				h.t.Error(err)
			}
			d, err := wire.DecodeDesired(data)
			if err != nil {
				h.t.Error(err)
			}
			d.Abort, d.Back = true, false
			h.want(d)
			u.Desired()
		}
	}
	switch state {
	case wire.DeployDownloading:
		h.fail = func(req wire.Fetch) error {
			if told || wire.ValidObject(req.Name) {
				tell()
				if req.Name != wire.DesiredName {
					return errors.New("the line hangs")
				}
			}
			return nil
		}
	case wire.DeployPauseBeforeInstall:
		k.stage.busy = true
		k.stage.asked = tell
	default:
		k.stage.at = func(ctx context.Context, at wire.DeployStatus) error {
			if at == state {
				tell()
			}
			if told && at != wire.DeployInstalling { // a switch is not given up half way
				<-ctx.Done()
				return ctx.Err()
			}
			return nil
		}
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
	return &house{
		t: t, now: epoch, hub: hub, objects: filepath.Join(dir, "objects"), wish: filepath.Join(dir, "desired.json"),
		asked: map[string]int{},
	}
}

// scene is a kiosk before a deployment.
type scene struct {
	h      *house
	k      *kiosk
	dir    string // of the house
	before string // release that is shown
	next   string // release that shall be shown
	wish   wire.Desired
}

// Kinds of deployments: the first one, a later one, one to a lower number that is still here, and to one that is not.
// DOCENT_FAULTS=1 tries all of them.
func kinds() []string {
	if os.Getenv("DOCENT_FAULTS") == "1" {
		return []string{"first", "update", "back", "back fetched"}
	}
	return []string{"update", "back"}
}

// setScene sets a kiosk before a deployment of a kind.
func setScene(t *testing.T, kind string) scene {
	t.Helper()
	dir := t.TempDir()
	h := newHouse(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "trusted.json"), h.root(), 0o600); err != nil {
		t.Fatal(err)
	}
	k := newKiosk(t, pack(t, 1, 3), h.root())
	s := scene{h: h, k: k, dir: dir}
	follow := func() {
		if err := k.follow(h); err != nil {
			t.Fatal(err)
		}
	}
	var second bundle.Index
	if kind != "first" {
		second = h.publish(pack(t, 2, 3, 0))
		follow()
	}
	third := h.publish(pack(t, 3, 3, 1))
	s.next, s.wish = third.ReleaseID, wire.Desired{Deployment: "roll-1", ReleaseID: third.ReleaseID, Number: 3}
	if strings.HasPrefix(kind, "back") {
		follow()
		s.next, s.wish = second.ReleaseID, wire.Desired{Deployment: "roll-1", ReleaseID: second.ReleaseID, Number: 2, Back: true}
	}
	if kind == "back fetched" {
		for _, sub := range []string{"releases", "indexes"} {
			if err := os.RemoveAll(filepath.Join(k.dir, sub, second.ReleaseID)); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.before = k.shows()
	h.want(s.wish)
	k.reports = nil
	return s
}

// steps are the durable steps of a deployment of a kind, in order.
func steps(kind string) []string {
	if kind == "back" { // nothing has to be fetched
		return append([]string{"saved pending"}, deployPoints[slices.Index(deployPoints, "saved verifying"):]...)
	}
	return deployPoints
}

// kill runs the kiosk in a child that dies at a point.
func (s scene) kill(t *testing.T, point, bad string, abort wire.DeployStatus) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	child.Env = append(os.Environ(), envChild+"="+strings.Join([]string{s.dir, s.k.dir, s.k.factory, point, bad, string(abort)}, sep))
	out, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the child did not die of the kill: %v\n%s", err, out)
	}
	if got := s.k.shows(); got != s.before && got != s.next {
		t.Errorf("after the kill it shows %s", got)
	}
}

// check finds one release on show, whole, the one before it and nothing half done.
func (s scene) check(t *testing.T, shown string, status wire.DeployStatus) {
	t.Helper()
	if got := s.k.shows(); got != shown {
		t.Errorf("in the end it shows %s, want %s: %s", got, shown, s.k.statuses())
	}
	st := s.k.start(s.h).State()
	if st.Status != status || st.Deployment != s.wish.Deployment || st.TakingBack != "" {
		t.Errorf("in the end its state is %+v, want %s", st, status)
	}
	if left, err := os.ReadDir(filepath.Join(s.k.dir, "incoming")); err != nil || len(left) > 0 {
		t.Errorf("left of fetching: %v, %v", left, err)
	}
	releases, err := os.ReadDir(filepath.Join(s.k.dir, "releases"))
	if err != nil || len(releases) > 2 {
		t.Errorf("%d releases are kept, want the one shown and the one before: %v", len(releases), err)
	}
	if shown == s.next && status == wire.DeploySuccess {
		if _, err := os.Stat(st.Previous); err != nil || filepath.Base(st.Previous) != s.before && st.Previous != s.k.factory {
			t.Errorf("the release before is %s: %v", st.Previous, err)
		}
	}
}

// TestKilledAtEachStep kills the kiosk at each durable step of a deployment, of a good release and of one that is
// taken back: what is shown after the kill is the old release or the new, whole, and at the next start all ends well.
func TestKilledAtEachStep(t *testing.T) {
	for _, kind := range kinds() {
		for _, point := range steps(kind) {
			t.Run(fmt.Sprintf("%s/%s", kind, point), func(t *testing.T) {
				s := setScene(t, kind)
				s.kill(t, point, "", "")
				if err := s.k.follow(s.h); err != nil {
					t.Error(err)
				}
				s.check(t, s.next, wire.DeploySuccess)
				if l := s.k.reports; point != "saved success" && (len(l) == 0 || !s.k.last().Resumed) {
					t.Errorf("reports %+v", l)
				}
			})
		}
		for _, point := range []string{"shown", "saved pause_before_committing", "saved pause_before_committing taking back", "rolled back", "saved failure"} {
			t.Run(fmt.Sprintf("%s/bad/%s", kind, point), func(t *testing.T) {
				s := setScene(t, kind)
				s.kill(t, point, s.next, "")
				s.k.stage.dislike = dislikeShown(s.next)
				_ = s.k.follow(s.h) // it says what is wrong with the release, where it learns of it
				s.check(t, s.before, wire.DeployFailure)
				if st := s.k.start(s.h).State(); !st.RolledBack || st.Code != "health" {
					t.Errorf("state %+v", st)
				}
			})
		}
	}
}

// TestKilledWhileAborted kills the kiosk at each step of giving up what the hub aborted in each state.
func TestKilledWhileAborted(t *testing.T) {
	for _, kind := range kinds() {
		for _, state := range abortStates(kind) {
			points := []string{"saved aborted"}
			if onShow(state) {
				points = []string{"saved pause_before_committing taking back", "rolled back", "saved aborted"}
			}
			for _, point := range points {
				t.Run(fmt.Sprintf("%s/%s/%s", kind, state, point), func(t *testing.T) {
					s := setScene(t, kind)
					s.kill(t, point, "", state)
					if err := s.k.follow(s.h); err != nil {
						t.Error(err)
					}
					s.check(t, s.before, wire.DeployAborted)
				})
			}
		}
	}
}

func abortStates(kind string) []wire.DeployStatus {
	states := []wire.DeployStatus{wire.DeployDownloading, wire.DeployVerifying, wire.DeployPauseBeforeInstall, wire.DeployInstalling, wire.DeployPauseBeforeCommit}
	if kind == "back" {
		return states[1:]
	}
	return states
}

// TestAbortedWhileTheProgramWasDown kills the kiosk at each step and has the rollout aborted before it starts again: what
// had not succeeded is given up, what had stays.
func TestAbortedWhileTheProgramWasDown(t *testing.T) {
	for _, kind := range kinds() {
		for _, point := range steps(kind) {
			t.Run(fmt.Sprintf("%s/%s", kind, point), func(t *testing.T) {
				s := setScene(t, kind)
				s.kill(t, point, "", "")
				abort := s.wish
				abort.Abort, abort.Back = true, false
				s.h.want(abort)
				if err := s.k.follow(s.h); err != nil {
					t.Error(err)
				}
				if point == "saved success" {
					s.check(t, s.next, wire.DeploySuccess)
				} else {
					s.check(t, s.before, wire.DeployAborted)
				}
			})
		}
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
