package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/sync/hub/postgres/pgtest"
	"docent/sync/hub/rollout"
	"docent/sync/wire"
)

const (
	thirdThenAll = `{"groups":[{"name":"canary","percent":30},{"name":"all","rest":true}]}`
	withApproval = `{"groups":[{"name":"canary","percent":30},{"name":"all","rest":true,"approval":true}]}`
)

// TestCanaryFailurePauses lets one of two canaries find the release not to do: it goes back by itself, the rollout is
// paused, and no further kiosk begins, however often it asks.
func TestCanaryFailurePauses(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	w := newMuseum(t, h.HTTPAddr())
	all := w.fleetOf(6, h.MQTTAddr())
	untilKnown(t, h.HTTPAddr(), len(all))
	// Both canaries hold still until they are known.
	for _, k := range all {
		k.attended.Store(true)
	}
	id := w.publish(h.HTTPAddr(), 2, thirdThenAll)
	canaries := told(t, h.HTTPAddr(), id).names(0)
	if len(canaries) != 2 {
		t.Fatalf("canaries: %v", canaries)
	}
	all[canaries[0]].sick.Store(2)
	for _, k := range all {
		k.attended.Store(false)
	}
	v := untilState(t, h.HTTPAddr(), id, rollout.Paused)
	if diff := cmp.Diff(rollout.Reason{Code: rollout.TooManyFailed, Group: "canary", N: 1, Of: 2}, v.Reason); diff != "" {
		t.Errorf("reason: %s", diff)
	}
	eventually(t, "the good canary is done", func() bool { return told(t, h.HTTPAddr(), id).Tallies[0].Succeeded == 1 })
	polls(t, all)
	if diff := cmp.Diff(map[int]int{1: 5, 2: 1}, shown(all)); diff != "" {
		t.Errorf("shown: %s", diff)
	}
	if n := all[canaries[0]].switches.Load(); n != 2 {
		t.Errorf("the sick canary showed another release %d times, want there and back", n)
	}
	for name, k := range all {
		if !slices.Contains(canaries, name) && k.switches.Load() != 0 {
			t.Errorf("%s has changed", name)
		}
	}
	v = told(t, h.HTTPAddr(), id)
	for _, m := range v.Kiosks {
		if m.Kiosk.Kiosk == canaries[0] && (m.State != rollout.Failure || m.Code != "health") {
			t.Errorf("the sick canary: %+v", m)
		}
	}
	if page := ask(t, h.HTTPAddr(), http.MethodGet, "/", nil); !strings.Contains(page, "1 of 2 kiosks of the group canary did not take it") || !strings.Contains(page, `data-do="resume"`) {
		t.Error("the page does not say why it is paused")
	}
	// Staff go on in spite of it.
	ask(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts/"+id+"/resume", map[string]string{"by": "bob"})
	untilShown(t, all, map[int]int{1: 1, 2: 5})
	untilState(t, h.HTTPAddr(), id, rollout.Finished)
}

// TestAbortIsFinal aborts a rollout while one kiosk waits for its visitor to leave and another one, whose line is cut,
// goes on: the first keeps what it had, the other's success comes late and does not count.
func TestAbortIsFinal(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	w := newMuseum(t, h.HTTPAddr())
	all := w.fleetOf(3, h.MQTTAddr())
	untilKnown(t, h.HTTPAddr(), len(all))
	waiting, away := all["kiosk-0"], all["kiosk-1"]
	waiting.attended.Store(true)
	away.attended.Store(true)
	id := w.publish(h.HTTPAddr(), 2, "")
	for _, k := range []*shower{waiting, away} {
		eventually(t, k.name+" waits for its visitor", func() bool { return k.update.State().Status == wire.DeployPauseBeforeInstall })
	}
	eventually(t, "the third is done, and the others have answered", func() bool {
		v := told(t, h.HTTPAddr(), id)
		return v.Tallies[0].Succeeded == 1 && !slices.ContainsFunc(v.Kiosks, func(m rollout.Member) bool { return m.BegunAt.IsZero() })
	})
	eventually(t, "the hub says what the two wait for, and nothing of the third", func() bool {
		doing := told(t, h.HTTPAddr(), id).Doing
		return len(doing) == 2 && doing[rollout.Kiosk{Site: site, Kiosk: "kiosk-0"}].Status == wire.DeployPauseBeforeInstall
	})
	away.cut()
	ask(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts/"+id+"/abort", map[string]string{"by": "bob", "reason": "typo in room 3"})
	eventually(t, "the waiting kiosk has heard of it", func() bool { return waiting.update.State().Status == wire.DeployAborted })
	waiting.attended.Store(false)
	away.attended.Store(false)
	eventually(t, "the kiosk that is away is done", func() bool { return away.update.State().Status == wire.DeploySuccess })
	away.online()
	find := func(v rolloutView, name string) (m rollout.Member) {
		for _, m = range v.Kiosks {
			if m.Kiosk.Kiosk == name {
				return m
			}
		}
		return rollout.Member{}
	}
	eventually(t, "its success is noted", func() bool { return find(told(t, h.HTTPAddr(), id), away.name).Late == wire.DeploySuccess })
	v := told(t, h.HTTPAddr(), id)
	if v.State != rollout.Stopped || v.Reason.Text != "typo in room 3" || v.Reason.By != "bob" {
		t.Errorf("%s, %+v", v.State, v.Reason)
	}
	if diff := cmp.Diff([]rollout.Tally{{Succeeded: 1, Aborted: 2}}, v.Tallies); diff != "" {
		t.Errorf("tallies: %s", diff)
	}
	for _, word := range []string{"resume", "approve", "pause", "abort"} {
		if code, body := tryAsk(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts/"+id+"/"+word, nil); code != http.StatusConflict {
			t.Errorf("%s: %d %s", word, code, body)
		}
	}
	// It stays as it is, and a kiosk that comes now is not told to.
	late := w.shower("kiosk-9", h.MQTTAddr())
	untilKnown(t, h.HTTPAddr(), 4)
	asks(t, late)
	if n := []int64{waiting.number.Load(), away.number.Load(), late.number.Load()}; !slices.Equal(n, []int64{1, 2, 1}) {
		t.Errorf("shown: %v", n)
	}
	if waiting.switches.Load() != 0 {
		t.Error("the waiting kiosk has changed")
	}
	if v := told(t, h.HTTPAddr(), id); len(v.Kiosks) != 3 || v.State != rollout.Stopped {
		t.Errorf("%s with %d kiosks", v.State, len(v.Kiosks))
	}
}

// asks waits until a kiosk has looked at what it shall show and has nothing to do.
func asks(t testing.TB, k *shower) {
	t.Helper()
	for range 3 {
		c, err := k.link.Fetch(t.Context(), wire.Fetch{Name: wire.DesiredName, Length: wire.MaxDesired})
		if err != nil {
			t.Fatal(err)
		}
		d, err := wire.DecodeDesired(c.Data)
		if err != nil || d.ReleaseID != "" {
			t.Errorf("%s is to show %+v, %v", k.name, d, err)
		}
	}
}

// TestApprovalAndBack waits for approval between the groups, and then takes all kiosks, and one that comes later, back to
// the release before.
func TestApprovalAndBack(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	w := newMuseum(t, h.HTTPAddr())
	all := w.fleetOf(5, h.MQTTAddr())
	untilKnown(t, h.HTTPAddr(), len(all))
	first := w.publish(h.HTTPAddr(), 2, "")
	untilShown(t, all, map[int]int{2: 5})
	untilState(t, h.HTTPAddr(), first, rollout.Finished)

	second := w.publish(h.HTTPAddr(), 3, withApproval)
	v := untilState(t, h.HTTPAddr(), second, rollout.Waiting)
	if diff := cmp.Diff(map[int]int{2: 3, 3: 2}, shown(all)); diff != "" {
		t.Errorf("before the approval: %s", diff)
	}
	for _, m := range v.Kiosks {
		if want := map[int]rollout.Progress{0: rollout.Success, 1: rollout.Held}[m.Group]; m.State != want {
			t.Errorf("%s: %s, want %s", m.Kiosk.Kiosk, m.State, want)
		}
	}
	early := w.shower("kiosk-early", h.MQTTAddr()) // comes while the others wait: it gets what all others have
	eventually(t, "a kiosk that comes while the others wait", func() bool { return early.number.Load() == 2 })
	all[early.name] = early
	ask(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts/"+second+"/approve", map[string]string{"by": "carl"})
	untilShown(t, all, map[int]int{3: 6})
	v = untilState(t, h.HTTPAddr(), second, rollout.Finished)
	if i := slices.IndexFunc(v.History, func(e rollout.Entry) bool { return e.What == rollout.Approved }); i < 0 || v.History[i].By != "carl" || v.History[i].Group != "all" {
		t.Errorf("history: %+v", v.History)
	}
	late := w.shower("kiosk-late", h.MQTTAddr()) // gets what the finished rollout says
	eventually(t, "a kiosk that comes later", func() bool { return late.number.Load() == 3 })
	all[late.name] = late

	if code, body := tryAsk(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts/"+first+"/back", nil); code != http.StatusConflict {
		t.Errorf("back of one that another came after: %d %s", code, body)
	}
	var back rolloutView
	if err := json.Unmarshal([]byte(ask(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts/"+second+"/back", map[string]string{"by": "carl"})), &back); err != nil {
		t.Fatal(err)
	}
	untilShown(t, all, map[int]int{2: 7})
	back = untilState(t, h.HTTPAddr(), back.ID, rollout.Finished)
	if !back.Back || back.Of != second || back.Release.Number != 2 || back.Total().Succeeded != 7 {
		t.Errorf("back: %+v, %+v", back.Rollout, back.Total())
	}
	fresh := w.shower("kiosk-fresh", h.MQTTAddr())
	eventually(t, "a kiosk that comes after that", func() bool { return fresh.number.Load() == 2 })
	if code, body := tryAsk(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts/"+back.ID+"/back", nil); code != http.StatusConflict {
		t.Errorf("back to nothing: %d %s", code, body)
	}
}

// freePort is an address that nobody listens at.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestHubKilledInARollout kills the hub with -9 again and again while a release goes out in groups: the rollout goes on
// where it was, no kiosk changes twice, and no group begins twice.
func TestHubKilledInARollout(t *testing.T) {
	kills := 4
	if faults() {
		kills = 20
	}
	dir, mqtt, page := t.TempDir(), freePort(t), freePort(t)
	spec := struct{ Dir, MQTTListen, HTTPListen, Site, Database string }{dir, mqtt, page, site, databaseOf(t, dir)}
	cmd, _ := startChildHub(t, spec)
	w := newMuseum(t, page)
	all := w.fleetOf(8, mqtt)
	untilKnown(t, page, len(all))
	for _, k := range all {
		k.attended.Store(true)
	}
	id := w.publish(page, 2, `{"groups":[{"name":"canary","percent":20},{"name":"half","percent":50},{"name":"all","rest":true}]}`)
	var names []string
	for group := range 3 {
		names = append(names, told(t, page, id).names(group)...)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	// Each kill comes when another few kiosks have been let go.
	for i := range kills {
		for _, name := range names[len(names)*i/kills : len(names)*(i+1)/kills] {
			all[name].attended.Store(false)
		}
		if let := names[len(names)*i/kills : len(names)*(i+1)/kills]; i%2 == 0 { // in the midst of it, or when it is done
			time.Sleep(time.Duration(rng.IntN(400)) * time.Millisecond)
		} else {
			eventually(t, fmt.Sprint(let, " show it"), func() bool {
				return !slices.ContainsFunc(let, func(name string) bool { return all[name].number.Load() != 2 })
			})
		}
		kill(t, cmd)
		cmd, _ = startChildHub(t, spec)
	}
	untilShown(t, all, map[int]int{2: 8})
	v := untilState(t, page, id, rollout.Finished)
	checkOnce(t, v, all)
	t.Logf("kill -9 of the hub %d times in a rollout of 3 groups to 8 kiosks: finished, 8 of 8 show it, each changed once", kills)
}

// checkOnce fails unless each group has begun once, and each kiosk has changed once.
func checkOnce(t *testing.T, v rolloutView, all map[string]*shower) {
	t.Helper()
	begun := map[string]int{}
	for _, e := range v.History {
		if e.What == rollout.Started {
			begun[e.Group]++
		}
	}
	for _, g := range v.Plan.Groups {
		if begun[g.Name] != 1 {
			t.Errorf("group %s began %d times", g.Name, begun[g.Name])
		}
	}
	for name, k := range all {
		if n := k.switches.Load(); n != 1 {
			t.Errorf("%s has changed %d times", name, n)
		}
	}
	if sum := v.Total(); sum.Succeeded != len(all) || sum.Total() != len(all) {
		t.Errorf("kiosks: %+v", sum)
	}
}

// TestTwoHubsShareARollout has two hub processes on one database, each with half of the kiosks: groups begin once, over
// both, and no kiosk changes twice.
func TestTwoHubsShareARollout(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { // in one folder, which hubs refuse elsewhere: the rollout's store stands it all the same
		dir := t.TempDir()
		shareRollout(t, []string{dir, dir}, "")
	})
	t.Run("postgres", func(t *testing.T) { // a folder each, with the same keys
		shareRollout(t, []string{t.TempDir(), t.TempDir()}, pgtest.Database(t))
	})
}

func shareRollout(t *testing.T, dirs []string, database string) {
	var mqtt, pages []string
	for i, dir := range dirs {
		mqtt, pages = append(mqtt, freePort(t)), append(pages, freePort(t))
		if dir != dirs[0] {
			for _, key := range []string{"content/hub.key", "visits/pass.key"} { // as an operator does
				data, err := os.ReadFile(filepath.Join(dirs[0], key))
				if err == nil {
					err = errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(key)), 0o700), os.WriteFile(filepath.Join(dir, key), data, 0o600))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		startChildHub(t, struct {
			Dir, MQTTListen, HTTPListen, Site, Database string
			Together                                    bool
		}{dir, mqtt[i], pages[i], site, database, true})
	}
	w := newMuseum(t, pages[0])
	all := map[string]*shower{}
	for i := range 8 {
		name := fmt.Sprint("kiosk-", i)
		all[name] = w.shower(name, mqtt[i%2])
	}
	untilKnown(t, pages[1], len(all))
	id := w.publish(pages[0], 2, withApproval)
	v := untilState(t, pages[1], id, rollout.Waiting)
	if v.Tallies[0].Succeeded != 3 || v.Tallies[1].Waiting != 5 {
		t.Errorf("before the approval: %+v", v.Tallies)
	}
	// Both are asked at once: one of them is told that it is done already.
	codes := make([]int, 2)
	var wg sync.WaitGroup
	for i, page := range pages {
		wg.Go(func() {
			codes[i], _ = tryAsk(t, page, http.MethodPost, "/api/v1/rollouts/"+id+"/approve", map[string]string{"by": page})
		})
	}
	wg.Wait()
	if slices.Sort(codes); !slices.Equal(codes, []int{http.StatusOK, http.StatusConflict}) {
		t.Errorf("approved by both: %v", codes)
	}
	untilShown(t, all, map[int]int{2: 8})
	checkOnce(t, untilState(t, pages[1], id, rollout.Finished), all)
}

// TestRolloutRequests refuses what cannot be done, and says why.
func TestRolloutRequests(t *testing.T) {
	h := startHub(t, Config{Dir: t.TempDir()})
	w := newMuseum(t, h.HTTPAddr())
	if body := ask(t, h.HTTPAddr(), http.MethodGet, "/api/v1/rollouts", nil); !strings.Contains(body, `"rollouts":[]`) {
		t.Errorf("before the first: %s", body)
	}
	if code, body := tryAsk(t, h.HTTPAddr(), http.MethodPost, "/api/v1/rollouts", nil); code != http.StatusConflict {
		t.Errorf("nothing is published: %d %s", code, body)
	}
	meet(t, h, "kiosk-1")
	id := w.publish(h.HTTPAddr(), 2, `{"groups":[{"name":"one","kiosks":["museum/kiosk-1"]},{"name":"all","rest":true}]}`)
	for _, tt := range []struct {
		name, method, path, body string
		program                  bool
		want                     int
		says                     string
	}{
		{"of another site", http.MethodPost, "/" + id + "/abort", "{}", false, http.StatusForbidden, ""},
		{"begin from another site", http.MethodPost, "", "{}", false, http.StatusForbidden, ""},
		{"none of that name", http.MethodGet, "/r9-none", "", true, http.StatusNotFound, "no such rollout"},
		{"abort of none", http.MethodPost, "/r9-none/abort", "{}", true, http.StatusNotFound, "no such rollout"},
		{"another word", http.MethodPost, "/" + id + "/delete", "{}", true, http.StatusNotFound, ""},
		{"not JSON", http.MethodPost, "/" + id + "/abort", "abort", true, http.StatusBadRequest, "by, reason"},
		{"unknown key", http.MethodPost, "/" + id + "/abort", `{"force":true}`, true, http.StatusBadRequest, "by, reason"},
		{"long name", http.MethodPost, "/" + id + "/abort", `{"by":"` + strings.Repeat("a", 301) + `"}`, true, http.StatusBadRequest, "one line"},
		{"two lines", http.MethodPost, "/" + id + "/abort", `{"reason":"a\nb"}`, true, http.StatusBadRequest, "one line"},
		{"approve what does not wait", http.MethodPost, "/" + id + "/approve", "{}", true, http.StatusConflict, id + " is running; there is nothing to approve.\""},
		{"resume what is not paused", http.MethodPost, "/" + id + "/resume", "{}", true, http.StatusConflict, "running"},
		{"back to nothing", http.MethodPost, "/" + id + "/back", "{}", true, http.StatusConflict, "No release before this one may be shown"},
		{"a bad plan", http.MethodPost, "", `{"plan":{"groups":[]}}`, true, http.StatusBadRequest, "0 groups"},
		{"a kiosk that nobody knows", http.MethodPost, "", `{"plan":{"groups":[{"name":"one","kiosks":["museum/kiosk-9"]},{"name":"all","rest":true}]}}`, true, http.StatusBadRequest, "does not know the kiosk museum/kiosk-9, and all others would wait for it. It knows museum/kiosk-1."},
		{"publish to a kiosk that nobody knows", http.MethodPost, "/../content/release", `{"rollout":{"groups":[{"name":"one","kiosks":["museum/kiosk-9","museum/kiosk-8"]}]}}`, true, http.StatusBadRequest, "does not know the kiosks museum/kiosk-9, museum/kiosk-8"},
		{"a release that is not signed", http.MethodPost, "", `{"number":7}`, true, http.StatusConflict, "No release of that number"},
		{"publish by a bad plan", http.MethodPost, "/../content/release", `{"rollout":{"groups":[{"name":"x"}]}}`, true, http.StatusBadRequest, "kiosks, percent and rest"},
	} {
		u, err := url.JoinPath("/api/v1/rollouts", tt.path)
		if err != nil {
			t.Fatal(err)
		}
		code, body := send(t, h, tt.method, u, []byte(tt.body), tt.program)
		if code != tt.want || !strings.Contains(body, tt.says) {
			t.Errorf("%s: %d %s, want %d with %q", tt.name, code, body, tt.want, tt.says)
		}
	}
	if v := told(t, h.HTTPAddr(), id); v.State != rollout.Running || len(v.History) != 2 || v.History[0].By != "ann" {
		t.Errorf("after all of that: %s, %+v", v.State, v.History)
	}
}

// TestPublishingCutOff ends the hub between the steps of publishing: a rollout whose release is published goes on at the
// next start, and one whose release is not ends.
func TestPublishingCutOff(t *testing.T) {
	for _, published := range []bool{true, false} {
		dir := t.TempDir()
		h := startHub(t, Config{Dir: dir})
		w := newMuseum(t, h.HTTPAddr())
		w.publish(h.HTTPAddr(), 2, "")
		s := sign(t, w.author, packRelease(t, 3))
		s.upload(t, h, 0)
		target, err := h.content.Check(s.files)
		if err != nil {
			t.Fatal(err)
		}
		r, err := rollout.New("r3-cut", rollout.Release{ID: target.ReleaseID, Number: 3}, rollout.Everybody(), "ann", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := h.rollouts.Create(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if published {
			if _, err := h.content.Publish(s.files); err != nil {
				t.Fatal(err)
			}
		}
		h.stop()
		later := time.Duration(0)
		if !published {
			later = time.Hour
		}
		h = startHub(t, Config{Dir: dir, Clock: func() time.Time { return time.Now().Add(later) }})
		if published {
			untilState(t, h.HTTPAddr(), "r3-cut", rollout.Finished) // there is no kiosk
		} else if v := untilState(t, h.HTTPAddr(), "r3-cut", rollout.Stopped); v.Reason.Code != rollout.NotPublished {
			t.Errorf("reason: %+v", v.Reason)
		}
		h.stop()
	}
}

// TestReleaseFromBeforeRollouts counts a release that was published before there were rollouts as one for all.
func TestReleaseFromBeforeRollouts(t *testing.T) {
	dir := t.TempDir()
	h := startHub(t, Config{Dir: dir})
	w := newMuseum(t, h.HTTPAddr())
	s := sign(t, w.author, packRelease(t, 2))
	s.upload(t, h, 0)
	if _, err := h.content.Publish(s.files); err != nil {
		t.Fatal(err)
	}
	h.stop()
	h = startHub(t, Config{Dir: dir})
	k := w.shower("kiosk-1", h.MQTTAddr())
	eventually(t, "the kiosk shows it", func() bool { return k.number.Load() == 2 })
	meet(t, h, "other")
	w.publish(h.HTTPAddr(), 3, `{"groups":[{"name":"other","kiosks":["museum/other"]},{"name":"all","rest":true}]}`)
	second := w.shower("kiosk-2", h.MQTTAddr())
	eventually(t, "a new kiosk shows what was for all", func() bool { return second.number.Load() == 2 })
}
