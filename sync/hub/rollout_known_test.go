package hub

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"docent/sync/hub/rollout"
	"docent/sync/hub/store"
	"docent/sync/update/trust"
	"docent/sync/wire"
)

// meet lets a hub know of a kiosk by its name.
func meet(t *testing.T, h running, kiosk string) {
	t.Helper()
	err := h.store.SetPresence(t.Context(), wire.Address{Site: site, Kiosk: kiosk}, wire.Status{State: wire.PresenceReady, TS: time.Now()}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
}

// TestRemovedKioskIsTold: of a kiosk that was removed while a rollout waits for it, the hub says so, and takes no further
// plan with it.
func TestRemovedKioskIsTold(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	w := newMuseum(t, h.HTTPAddr())
	kiosk := wire.Address{Site: site, Kiosk: "kiosk-1"}
	meet(t, h, "kiosk-1")
	if err := h.store.AddCertificate(t.Context(), store.Certificate{Serial: "1", Kiosk: kiosk, NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	plan := `{"groups":[{"name":"one","kiosks":["museum/kiosk-1"]},{"name":"all","rest":true}]}`
	id := w.publish(h.HTTPAddr(), 2, plan)
	if v := told(t, h.HTTPAddr(), id); len(v.Unknown) != 0 {
		t.Errorf("unknown while it is there: %v", v.Unknown)
	}
	if _, err := h.store.Revoke(t.Context(), kiosk, time.Now(), wire.RefusedRevoked); err != nil {
		t.Fatal(err)
	}
	if v := told(t, h.HTTPAddr(), id); !slices.Equal(v.Unknown, []rollout.Kiosk{rollout.Kiosk(kiosk)}) {
		t.Errorf("unknown after it was removed: %v", v.Unknown)
	}
	if code, body := tryAsk(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts", map[string]any{"plan": json.RawMessage(plan)}); code != http.StatusBadRequest || !strings.Contains(body, "It knows none yet") {
		t.Errorf("start with it: %d %s", code, body)
	}
}

// TestPublishTellsWhatItIs: what a hub cannot take, it says in words that lead on.
func TestPublishTellsWhatItIs(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	says := func(what string, s signed, want int, words string) {
		t.Helper()
		s.upload(t, h, 0)
		if code, body := s.publish(t, h); code != want || !strings.Contains(body, words) {
			t.Errorf("%s: %d %s, want %d with %s", what, code, body, want, words)
		}
	}
	foreign := func() *trust.Author {
		other := startHub(t, Config{Dir: t.TempDir()})
		return author(t, other)
	}
	says("for another hub, before the first", sign(t, foreign(), packRelease(t, 12)), http.StatusConflict, "names another hub's key")

	keys := filepath.Join(t.TempDir(), "keys")
	key := func(h running) []byte {
		return []byte(ask(t, h.HTTPAddr(), http.MethodGet, "/api/v1/content/key", nil))
	}
	open := func(pem []byte) *trust.Author {
		t.Helper()
		public, err := trust.ReadPublic(pem)
		if err != nil {
			t.Fatal(err)
		}
		a, err := trust.OpenAuthor(keys, public, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := open(key(h))
	two, three := sign(t, a, packRelease(t, 2)), sign(t, a, packRelease(t, 3))
	three.upload(t, h, 0)
	if code, body := three.publish(t, h); code != http.StatusOK || !strings.Contains(body, `"lacking":[{"release_id":"`+two.index.ReleaseID) {
		t.Errorf("three without two: %d %s", code, body)
	}
	list := ask(t, h.HTTPAddr(), http.MethodGet, "/api/v1/rollouts", nil)
	if !strings.Contains(list, `"releases":[{"release_id":"`+three.index.ReleaseID+`","number":3}]`) || !strings.Contains(list, `"lacking":[{"release_id":"`+two.index.ReleaseID) {
		t.Errorf("list without two: %s", list)
	}
	if code, body := two.publish(t, h); code != http.StatusConflict || !strings.Contains(body, "objects are missing") {
		t.Errorf("two without its objects: %d %s", code, body)
	}
	says("the same again", three, http.StatusOK, `"again":true,"newest":true`)
	says("two with its objects", two, http.StatusOK, `"number":2,"again":true,"lacking":[]`)
	if code, body := tryAsk(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts", map[string]any{"number": 2}); code != http.StatusOK {
		t.Errorf("start two: %d %s", code, body)
	}

	mine := author(t, h)
	says("other keys, as old", sign(t, mine, packRelease(t, 4)), http.StatusConflict, "signed with other keys than this hub's")
	for range 2 {
		sign(t, mine, packRelease(t, 5))
	}
	says("other keys, newer", sign(t, mine, packRelease(t, 6)), http.StatusConflict, "signed with other keys than this hub's")
	elsewhere := open(key(startHub(t, Config{Dir: t.TempDir()})))
	says("the house's keys, for another hub", sign(t, elsewhere, packRelease(t, 7)), http.StatusConflict, "names another hub's key: sign it with --hub-key of this hub")
	if _, err := os.Stat(filepath.Join(keys, "metadata", "2.root.json")); err != nil {
		t.Error(err)
	}
}
