package hub

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/enrol"
	"docent/sync/wire"
)

// TestLook looks at how a kiosk stands with its hub from beside it, as a technician does.
func TestLook(t *testing.T) {
	h := runHub(t, Config{Dir: t.TempDir()})
	other := runHub(t, Config{Dir: t.TempDir()})
	dir := t.TempDir()
	look := func(change ...func(*enrol.Options)) enrol.Standing {
		t.Helper()
		opt := enrol.Options{Dir: filepath.Join(dir, "identity"), Hub: "tls://" + h.MQTTAddr(), Kiosk: wire.Address{Site: site, Kiosk: "kiosk-1"}}
		for _, c := range change {
			c(&opt)
		}
		s, err := enrol.Look(context.Background(), opt)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ahead := func(d time.Duration) func(*enrol.Options) {
		return func(o *enrol.Options) { o.Clock = func() time.Time { return time.Now().Add(d) } }
	}
	if s := look(); s.Phase != enrol.PhaseNone || s.Reason != "" || s.Unreachable != nil || s.Fingerprint != h.Fingerprint() || s.TLS != nil || s.HubNow.IsZero() {
		t.Errorf("before the first start: %+v", s)
	}
	if _, err := os.Stat(filepath.Join(dir, "identity")); !os.IsNotExist(err) {
		t.Errorf("looking made something: %v", err)
	}
	if list, err := h.store.Waiting(context.Background(), time.Now()); err != nil || len(list) != 0 {
		t.Errorf("looking asked for a certificate: %v, %v", list, err)
	}
	if s := look(func(o *enrol.Options) { o.Fingerprint = strings.Repeat("ab", 32) }); s.Reason != enrol.ReasonHub || !strings.Contains(s.Detail, h.Fingerprint()) {
		t.Errorf("another hub than set: %+v", s)
	}

	k := startSecure(t, h.MQTTAddr(), "kiosk-1", dir)
	until(t, "a code", func() bool { return k.id.State().Code != "" })
	if s := look(); s.Phase != enrol.PhaseWaiting || s.Code != k.id.State().Code {
		t.Errorf("waiting: %+v", s)
	}
	k.enrolled(t, h, false)
	connects, files := k.link.State().Connects, identityFiles(t, dir)
	for _, tt := range []struct {
		name   string
		change func(*enrol.Options)
		reason string
		say    string
	}{
		{"enrolled", ahead(0), "", ""},
		{"a clock a day ahead", ahead(24 * time.Hour), "", ""},
		{"a clock years ahead", ahead(5 * 366 * 24 * time.Hour), enrol.ReasonClock, "the hub's clock says"},
		{"another hub at the address", func(o *enrol.Options) { o.Hub = "tls://" + other.MQTTAddr() }, enrol.ReasonHub, other.Fingerprint()},
		{"another hub in the settings", func(o *enrol.Options) { o.Hub, o.Fingerprint = "tls://"+other.MQTTAddr(), other.Fingerprint() }, enrol.ReasonIdentity, h.Fingerprint()},
		{"another name in the settings", func(o *enrol.Options) { o.Kiosk.Kiosk = "kiosk-2" }, enrol.ReasonIdentity, "kiosk-1"},
	} {
		s := look(tt.change)
		if s.Reason != tt.reason || !strings.Contains(s.Detail, tt.say) || s.Unreachable != nil || s.Name != site+"_kiosk-1" {
			t.Errorf("%s: %+v", tt.name, s)
		}
		if usable := tt.reason == "" || tt.reason == enrol.ReasonClock || tt.reason == enrol.ReasonHub; usable != (s.TLS != nil) {
			t.Errorf("%s: may connect: %v", tt.name, s.TLS != nil)
		}
	}
	if s := look(ahead(-24 * time.Hour)); s.Apart > -24*time.Hour+5*time.Second || s.Apart < -24*time.Hour-5*time.Second {
		t.Errorf("a clock a day behind is said to be %s ahead", s.Apart)
	}
	if s := look(func(o *enrol.Options) { o.Hub = "tls://127.0.0.1:1" }); s.Unreachable == nil || s.Until.IsZero() || s.Reason != "" {
		t.Errorf("out of reach: %+v", s)
	}
	if d := cmp.Diff(files, identityFiles(t, dir)); d != "" {
		t.Errorf("looking changed the identity: %s", d)
	}
	if s := k.link.State(); !s.Connected || s.Connects != connects {
		t.Errorf("looking disturbed the kiosk: %+v", s)
	}
	if err := h.Revoke(context.Background(), wire.Address{Site: site, Kiosk: "kiosk-1"}); err != nil {
		t.Fatal(err)
	}
	k.stop()
	if err := os.Remove(filepath.Join(dir, "identity", "pending.json")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if s := look(); s.Reason != string(wire.RefusedRevoked) {
		t.Errorf("revoked: %+v", s)
	}
	if err := os.WriteFile(filepath.Join(dir, "identity", "identity.pem"), []byte("no identity"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := look(); s.Reason != enrol.ReasonIdentity {
		t.Errorf("damaged: %+v", s)
	}
}

func identityFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "identity"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, "identity", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}
