package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/localindex/gallery"
	"docent/localindex/release"
	"docent/sync/hub"
	"docent/sync/hub/rollout"
	"docent/sync/hub/store"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

func TestPlanOfFlags(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good.yaml", `
start_at: 2026-03-02T22:00:00+01:00
groups:
  - {name: canary, kiosks: [louvre/kiosk-1], error_threshold: 0, timeout_hours: 4}
  - {name: half, percent: 50, error_threshold: 5%}
  - {name: all, rest: true, approval: true}
`)
	for _, tt := range []struct {
		name  string
		flags rolloutPlan
		want  string
		wrong string
	}{
		{"none", rolloutPlan{}, ``, ""},
		{"a share", rolloutPlan{Canary: "10%"}, `{"groups":[{"name":"canary","percent":10},{"name":"all","rest":true,"error_threshold":"100%"}]}`, ""},
		{"kiosks, and approval", rolloutPlan{Canary: "louvre/a, louvre/b", Approval: true}, `{"groups":[{"name":"canary","kiosks":["louvre/a","louvre/b"]},{"name":"all","rest":true,"error_threshold":"100%","approval":true}]}`, ""},
		{"a file", rolloutPlan{Rollout: good}, `{"groups":[{"error_threshold":0,"kiosks":["louvre/kiosk-1"],"name":"canary","timeout_hours":4},{"error_threshold":"5%","name":"half","percent":50},{"approval":true,"name":"all","rest":true}],"start_at":"2026-03-02T22:00:00+01:00"}`, ""},
		{"no share", rolloutPlan{Canary: "x%"}, "", "is no share"},
		{"a broken share", rolloutPlan{Canary: "5.5%"}, "", "is no share"},
		{"a share of none", rolloutPlan{Canary: "0%"}, "", "is no share"},
		{"more than all", rolloutPlan{Canary: "200%"}, "", "percent is 200"},
		{"no kiosk", rolloutPlan{Canary: "kiosk-1"}, "", "SITE/KIOSK"},
		{"approval of nothing", rolloutPlan{Approval: true}, "", "goes with --canary"},
		{"a file that is none", rolloutPlan{Rollout: file("bad.yaml", "groups: [")}, "", "bad.yaml"},
		{"a list", rolloutPlan{Rollout: file("list.yaml", "- a")}, "", "list.yaml"},
		{"a key that is unknown", rolloutPlan{Rollout: file("key.yaml", "groups: [{name: a, rest: true, wait: 1}]")}, "", `unknown field "wait"`},
		{"no groups", rolloutPlan{Rollout: file("none.yaml", "groups: []")}, "", "0 groups"},
		{"an empty file", rolloutPlan{Rollout: file("empty.yaml", "")}, "", "there is no plan in it"},
		{"comments alone", rolloutPlan{Rollout: file("comments.yaml", "# groups:\n")}, "", "there is no plan in it"},
		{"too long", rolloutPlan{Rollout: file("long.yaml", strings.Repeat("#", 1<<20+1))}, "", "long.yaml"},
	} {
		plan, err := tt.flags.plan()
		if tt.wrong == "" && (err != nil || string(plan) != tt.want) {
			t.Errorf("%s: %s, %v; want %s", tt.name, plan, err, tt.want)
		}
		if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.wrong)
		}
	}
}

// TestRolloutCommands leads a rollout from the command line, at a hub that knows of one kiosk by its name only.
func TestRolloutCommands(t *testing.T) {
	dir := t.TempDir()
	known, err := store.Open(t.Context(), filepath.Join(dir, "hub", "hub.db"))
	if err == nil {
		err = known.SetPresence(t.Context(), wire.Address{Site: "museum", Kiosk: "kiosk-1"}, wire.Status{State: wire.PresenceReady, TS: time.Now()}, time.Now())
		err = errors.Join(err, known.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	h, err := hub.New(hub.Config{Dir: filepath.Join(dir, "hub"), MQTTListen: "127.0.0.1:0", HTTPListen: "127.0.0.1:0", Clear: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-h.Ready():
	case err := <-ended:
		t.Fatal(err)
	}
	page := "http://" + h.HTTPAddr()
	ok := func(want string, args ...string) string {
		t.Helper()
		code, out, errs := docent(t, append(args, "--hub", page)...)
		if code != exitDone || !regexp.MustCompile(want).MatchString(out) {
			t.Fatalf("docent %v: %d\n%s%s\nwant %s", args, code, out, errs, want)
		}
		return out
	}
	refused := func(want string, args ...string) {
		t.Helper()
		if code, out, errs := docent(t, append(args, "--hub", page)...); code == exitDone || !strings.Contains(errs, want) {
			t.Errorf("docent %v: %d\n%s%s\nwant %s", args, code, out, errs, want)
		}
	}
	ok("No release has been rolled out yet. Publish one: docent gallery publish BUNDLE --hub "+page, "rollout", "list")
	refused("no release has been rolled out yet", "rollout", "show")

	keys, hubKey := filepath.Join(dir, "keys"), filepath.Join(dir, "hub.pem")
	if err := download(page+"/api/v1/content/key", hubKey); err != nil {
		t.Fatal(err)
	}
	sign := func(number int) (bundle string) {
		t.Helper()
		of := filepath.Join(dir, "release", string(rune('0'+number)))
		g := &gallery.Gallery{ID: "test", Name: gallery.Localized{"en": "Test"}, Languages: []string{"en"}}
		if err := os.MkdirAll(filepath.Dir(of), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := release.Pack(t.Context(), of, release.Content{Gallery: g, PicturesFrom: dir, Number: number, Created: time.Now()}); err != nil {
			t.Fatal(err)
		}
		bundle = of + "-signed"
		if code, out, errs := docent(t, "gallery", "sign", of, "--keys", keys, "--hub-key", hubKey, "--out", bundle); code != exitDone {
			t.Fatalf("sign: %d %s%s", code, out, errs)
		}
		return bundle
	}
	publish := func(number int, want string, flags ...string) {
		t.Helper()
		bundle := sign(number)
		ok(want, append([]string{"gallery", "publish", bundle}, flags...)...)
	}
	publish(1, "Kiosks show it as soon as nobody is there. How far it is: docent rollout show r1-\\w+ --hub "+page)
	ok(`r1-\w+ +1-\w+ +running +0 of 1 (?s).*Releases that kiosks may show: 1\n`, "rollout", "list")
	refused("percent is 200", "gallery", "publish", dir, "--canary", "200%")
	publish(2, "The kiosks of its first group show it", "--canary", "museum/kiosk-1", "--approval", "--by", "Ann")
	out := ok(`is running\.\n +canary: 0 of 1 show it, 0 failed, 1 at it\n +all: has not begun\n`, "rollout", "show")
	for _, want := range []string{`museum/kiosk-1 +canary +told, no answer yet`, `created +Ann`, `started canary`} {
		if !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("show does not say %s:\n%s", want, out)
		}
	}
	for what, args := range map[string][]string{
		"start":   {"rollout", "start", "--canary", "museum/kiosk-9"},
		"publish": {"gallery", "publish", filepath.Join(dir, "release", "2-signed"), "--canary", "museum/kiosk-9"},
	} {
		if code, _, errs := docent(t, append(args, "--hub", page)...); code == exitDone || !strings.Contains(errs, "does not know the kiosk museum/kiosk-9, and all others would wait for it. It knows museum/kiosk-1.") {
			t.Errorf("%s with a kiosk that nobody knows: %d %s", what, code, errs)
		}
	}
	refused(" is running; there is nothing to approve.", "rollout", "approve")
	ok(`is paused: by Bob: tea\.`, "rollout", "pause", "--by", "Bob", "--reason", "tea")
	ok(`is running`, "rollout", "resume", "--by", "Bob")
	ok(`is stopped: by Bob: typo`, "rollout", "abort", "--by", "Bob", "--reason", "typo")
	refused(" is stopped; there is nothing to resume.", "rollout", "resume")
	ok(`of release 2-\w+ is running`, "rollout", "start", "--canary", "museum/kiosk-1")
	ok(`of release 1-\w+ is (running|finished)`, "rollout", "back")
	ok(`"state": "running"`, "rollout", "show", "--json", "-")
	ok(`\(back\)`, "rollout", "list")
	refused("is already published; to roll it out again: docent rollout start --hub "+page, "gallery", "publish", filepath.Join(dir, "release", "2-signed"))
	refused("is already published; to roll it out again: docent rollout start --number 1 --hub "+page, "gallery", "publish", filepath.Join(dir, "release", "1-signed"))
	three := sign(3)
	publish(4, `Note: this hub does not have release 3: there is nothing to go back to. If you have its bundle: docent gallery publish BUNDLE --hub `)
	ok(`Releases that kiosks may show: 4\nSigned too, but this hub does not have all of them: 3\.`, "rollout", "list")
	ok(`Release 3-\w+ was published before; its pieces are here now. To roll it out: docent rollout start --number 3 --hub `, "gallery", "publish", three)
	ok(`Releases that kiosks may show: 3, 4\n$`, "rollout", "list")
	ok(`of release 3-\w+ is running`, "rollout", "start", "--number", "3")
	refused("No release of that number", "rollout", "start", "--number", "7")
	refused("no such rollout", "rollout", "show", "r9-none")
}

// TestRolloutShowSaysItOnce: what a kiosk said last is told where it differs, and so is a kiosk that was removed.
func TestRolloutShowSaysItOnce(t *testing.T) {
	k := func(name string) wire.Address { return wire.Address{Site: "museum", Kiosk: name} }
	r := toldRollout{
		Rollout: rollout.Rollout{ID: "r1", Plan: rollout.Everybody(), State: rollout.Stopped},
		Kiosks: []rollout.Member{
			{Kiosk: k("a"), State: rollout.Aborted, Late: wire.DeployAborted},
			{Kiosk: k("b"), State: rollout.Aborted, Late: wire.DeploySuccess},
			{Kiosk: k("c"), State: rollout.Failure, Code: "health"},
			{Kiosk: k("d"), State: rollout.Going, BegunAt: time.Now()},
			{Kiosk: k("e"), State: rollout.Going, BegunAt: time.Now()},
			{Kiosk: k("f"), State: rollout.Going, BegunAt: time.Now()},
		},
		Doing: map[rollout.Kiosk]wire.Deploy{
			rollout.Kiosk(k("d")): {Status: wire.DeployPauseBeforeInstall},
			rollout.Kiosk(k("e")): {Status: wire.DeployDownloading, Done: 30, Of: 120},
			rollout.Kiosk(k("f")): {Status: wire.DeployPending, Code: "hours", Detail: "waits for 22:00"},
		},
		Unknown: []rollout.Kiosk{rollout.Kiosk(k("a")), rollout.Kiosk(k("c"))},
	}
	var lines []string
	for _, m := range r.Kiosks {
		state, why := r.saysOf(m)
		lines = append(lines, state+" | "+why)
	}
	want := []string{"aborted | this hub does not know this kiosk", "aborted, then success | ", "failure | health; this hub does not know this kiosk",
		"running | waits until nobody is there", "running | downloading, 25 %", "running | pending: hours: waits for 22:00"}
	if diff := cmp.Diff(lines, want); diff != "" {
		t.Error(diff)
	}
}

// TestSignRefuses: what cannot be signed is refused before anything is made.
func TestSignRefuses(t *testing.T) {
	dir := t.TempDir()
	var pem bytes.Buffer
	public, _, err := ed25519.GenerateKey(nil)
	if err == nil {
		err = trust.WritePublic(&pem, public)
	}
	hubKey := filepath.Join(dir, "hub.pem")
	if err := errors.Join(err, os.WriteFile(hubKey, pem.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	pack := func(number int) string {
		t.Helper()
		of := filepath.Join(dir, fmt.Sprint("release-", number))
		g := &gallery.Gallery{ID: "test", Name: gallery.Localized{"en": "Test"}, Languages: []string{"en"}}
		if _, err := release.Pack(t.Context(), of, release.Content{Gallery: g, PicturesFrom: dir, Number: number, Created: time.Now()}); err != nil {
			t.Fatal(err)
		}
		return of
	}
	two, three, keys := pack(2), pack(3), filepath.Join(dir, "keys")
	broken := pack(4)
	manifest := filepath.Join(broken, release.ManifestFile)
	if err := os.WriteFile(manifest, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	sign := func(of, keys, out string, more ...string) (int, string) {
		code, said, errs := docent(t, append([]string{"gallery", "sign", of, "--keys", keys, "--out", out}, more...)...)
		return code, said + errs
	}
	out := filepath.Join(dir, "three")
	if code, said := sign(three, keys, out, "--hub-key", hubKey); code != exitDone || !strings.Contains(said, "New signing keys are in "+keys) {
		t.Fatalf("the first: %d %s", code, said)
	}
	if code, said := sign(three, keys, out); code != exitDone || strings.Contains(said, "New signing keys") {
		t.Fatalf("the same again: %d %s", code, said)
	}
	wrong := filepath.Join(dir, "kyes")
	for _, tt := range []struct {
		name, release, keys, says string
		more                      []string
	}{
		{"mistyped keys", three, wrong, "no keys in " + wrong + "; is that the folder? For the first time add --hub-key hub.pem", nil},
		{"mistyped keys to rotate", three, wrong, "no keys in", []string{"--rotate"}},
		{"a lower number", two, keys, "is lower than 3-", nil},
		{"a broken release", broken, wrong, "manifest", []string{"--hub-key", hubKey}},
	} {
		out := filepath.Join(dir, "refused")
		if code, said := sign(tt.release, tt.keys, out, tt.more...); code == exitDone || !strings.Contains(said, tt.says) {
			t.Errorf("%s: %d %s", tt.name, code, said)
		}
		for _, made := range []string{out, wrong} {
			if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s left %s: %v", tt.name, made, err)
			}
		}
	}
}
