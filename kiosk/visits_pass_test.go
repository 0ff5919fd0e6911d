package kiosk

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"docent/agent"
	"docent/kiosk/pass"
	"docent/sync/hub"
	"docent/sync/link"
	"docent/sync/outbox"
	"docent/sync/wire"
	"docent/vision"
	"docent/vision/camera"
	"docent/vision/qrcode"
)

// museum is a hub with kiosks: real broker, real stores, one process.
type museum struct {
	t    testing.TB
	dir  string // the hub's
	addr string
	skew *skew
	stop func()
}

// skew is a clock that the test puts forward.
type skew struct {
	mu sync.Mutex
	by time.Duration
}

func (s *skew) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.by)
}

func (s *skew) forward(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.by += d
}

func openMuseum(t testing.TB) *museum {
	t.Helper()
	m := &museum{t: t, dir: t.TempDir(), addr: "127.0.0.1:0", skew: &skew{}}
	m.start()
	return m
}

func (m *museum) start() {
	m.t.Helper()
	h, err := hub.New(hub.Config{Dir: m.dir, MQTTListen: m.addr, HTTPListen: "127.0.0.1:0", Site: "museum", Clear: true, Clock: m.skew.now})
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	select {
	case <-h.Ready():
	case err := <-done:
		m.t.Fatalf("hub: %v", err)
	}
	m.addr = h.MQTTAddr()
	m.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			m.t.Errorf("hub: %v", err)
		}
	})
	m.t.Cleanup(func() { m.stop() })
}

// room is one kiosk of a museum.
type room struct {
	*house
	dir  string
	box  *outbox.Outbox
	link *link.Link
}

func (m *museum) kiosk(name string, guide Guide, change ...func(*Options)) *room {
	m.t.Helper()
	r := &room{dir: m.t.TempDir()}
	var err error
	if r.box, err = outbox.Open(filepath.Join(r.dir, "outbox"), outbox.Options{Kiosk: name, MinFree: 1}); err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if err := r.box.Close(); err != nil {
			m.t.Errorf("close outbox: %v", err)
		}
	})
	r.link, err = link.New(link.Options{
		Broker: "tcp://" + m.addr, Site: "museum", Kiosk: name, Outbox: r.box, Random: func() float64 { return 0.05 }, Visits: r.notice,
	})
	if err != nil {
		m.t.Fatal(err)
	}
	r.house = open(m.t, append([]func(*Options){func(o *Options) {
		o.Config.Site, o.Config.Kiosk, o.Config.DataDir, o.Guide = "museum", name, r.dir, guide
		o.Events, o.Hub, o.Clock = r.box, r.link, m.skew.now
	}}, change...)...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.link.Run(ctx) }()
	stopped := r.stop
	r.stop = sync.OnceFunc(func() {
		stopped()
		cancel()
		if err := <-done; err != nil {
			m.t.Errorf("link: %v", err)
		}
	})
	m.t.Cleanup(r.stop)
	until(m.t, "the link", func() bool { return r.link.State().Connected })
	return r
}

// notice comes from the link, which is there before the kiosk.
func (r *room) notice(n wire.VisitNotice) {
	if r.house != nil {
		r.VisitNotice(n)
	}
}

func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not come", what)
		}
	}
}

func (r *room) drained() bool { return r.box.Depth() == 0 }

type given struct {
	QR      string
	Code    string
	Expires time.Time `json:"expires_at"`
}

func (r *room) pass(visit, keep string) (g given) {
	r.t.Helper()
	r.post("/api/v1/visit/pass", map[string]string{"visit": visit, "keep": keep}, http.StatusCreated).json(r.t, &g)
	return g
}

// text is what stands in the code of a visit's pass.
func (r *room) text(id string) string {
	r.t.Helper()
	v, err := r.visits.Get(id)
	if err != nil || v.Carried == nil {
		r.t.Fatalf("no pass: %v", err)
	}
	return passOf(v).String()
}

func (r *room) keys(visit string) string {
	r.t.Helper()
	var keys []string
	for _, i := range r.remembered(visit).Items {
		keys = append(keys, i.Key)
	}
	return strings.Join(keys, " ")
}

func TestVisitGoesOnAtAnotherKiosk(t *testing.T) {
	m := openMuseum(t)
	first, second := newTold(), newTold()
	hall, garden := m.kiosk("hall", first), m.kiosk("garden", second)
	id := hall.startVisit("zh")
	hall.post("/api/v1/visit/exhibit", map[string]string{"visit": id, "exhibit": "red-fan"}, http.StatusOK)
	first.answers(t, hall.house, id, "我叫安娜，我对花生过敏。这是什么？", "红扇 [1]。")
	if g := hall.pass(id, "day"); len(g.Code) != 9 || !strings.HasPrefix(g.QR, "<svg") || !g.Expires.After(time.Now()) || g.Expires.After(time.Now().Add(25*time.Hour)) {
		t.Fatalf("%+v", g)
	}
	text := hall.text(id)

	began := time.Now()
	var on resumed
	garden.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusOK).json(t, &on)
	t.Logf("the visit went on after %s", time.Since(began).Round(time.Millisecond))
	if on.Visit != id || on.Language != "zh" || on.Exhibit == nil || on.Exhibit.ID != "red-fan" || on.Turns != 1 || strings.Join(on.Seen, " ") != "red-fan" {
		t.Fatalf("%+v", on)
	}
	if got := garden.keys(id); got != "allergy/花生 name" {
		t.Errorf("remembered at the second kiosk: %s", got)
	}
	turn := second.answers(t, garden.house, id, "它是谁画的？我其实叫安妮。叫我安妮。", "艾达 [1]。")
	if len(turn.History) != 1 || turn.Exhibit != "red-fan" || len(turn.Remembered) != 2 || turn.Remembered[1].Value != "安妮" {
		t.Errorf("%+v", turn)
	}

	// The first kiosk has the visit still open, and learns what was said at the second.
	until(t, "what was said at the second kiosk", func() bool {
		items := hall.remembered(id).Items
		return len(items) == 2 && items[1].Text == "您叫安妮。"
	})
	// It ends there: nothing is left on that kiosk, and the visit goes on.
	hall.post("/api/v1/visit/end", map[string]string{"visit": id}, http.StatusNoContent)
	wantProblem(t, hall.get("/api/v1/visit/memory?visit="+id), http.StatusNotFound, codeNoSuchVisit)
	second.answers(t, garden.house, id, "我们还有四十分钟", "好。")
	// What was said a moment ago may still be on its way; it comes after.
	hall.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusOK).json(t, &on)
	until(t, "all of the visit, back at the first kiosk", func() bool {
		v, err := hall.visits.Get(id)
		return err == nil && len(v.Talk.Turns) == 3 && hall.keys(id) == "allergy/花生 time_left name"
	})
}

func TestShortCode(t *testing.T) {
	m := openMuseum(t)
	g := newTold()
	hall, garden := m.kiosk("hall", g), m.kiosk("garden", newTold())
	id := hall.startVisit("en")
	g.answers(t, hall.house, id, "My name is Anna. What is this?", "A fan [1].")
	code := hall.pass(id, "longer").Code
	until(t, "the hall's outbox", hall.drained)
	enter := func(code string, status int) reply {
		return garden.post("/api/v1/visit/resume", map[string]string{"code": code}, status)
	}
	wantProblem(t, enter("hello", http.StatusNotFound), http.StatusNotFound, codeNoCode)
	wantProblem(t, enter("2222 2222", http.StatusNotFound), http.StatusNotFound, codeNoCode)
	var on resumed
	enter(strings.ToLower(strings.ReplaceAll(code, " ", "-")), http.StatusOK).json(t, &on)
	if on.Visit != id || garden.keys(id) != "name" {
		t.Errorf("%+v", on)
	}
	m.skew.forward(pass.CodeLife + time.Second)
	wantProblem(t, enter(code, http.StatusNotFound), http.StatusNotFound, codeNoCode)
	for range codeTries {
		if r := garden.do(http.MethodPost, "/api/v1/visit/resume", "application/json", []byte(`{"code":"33333333"}`)); r.status == http.StatusTooManyRequests {
			return
		}
	}
	t.Error("codes can be tried for ever")
}

func TestPassesThatAreNone(t *testing.T) {
	m := openMuseum(t)
	hall, garden := m.kiosk("hall", newTold()), m.kiosk("garden", newTold())
	id := hall.startVisit("en")
	hall.pass(id, "day")
	text := hall.text(id)
	p, err := pass.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	refuse := func(text string, status int, code code) {
		t.Helper()
		wantProblem(t, garden.post("/api/v1/visit/resume", map[string]string{"pass": text}, status), status, code)
	}
	refuse("https://example.org", http.StatusBadRequest, codePassNone)
	forged := p
	forged.Signature = append([]byte{}, p.Signature...)
	forged.Signature[3] ^= 1
	refuse(forged.String(), http.StatusForbidden, codePassForged)
	longer := p
	longer.Expires = p.Expires.Add(24 * time.Hour)
	refuse(longer.String(), http.StatusForbidden, codePassForged)
	another := p
	another.Visit = garden.startVisit("en")
	refuse(another.String(), http.StatusForbidden, codePassForged)

	until(t, "the hall's outbox", hall.drained)
	garden.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusOK) // as it is, it is good
	m.skew.forward(49 * time.Hour)
	refuse(text, http.StatusGone, codePassExpired)
}

// TestHubAway wants the second kiosk to say what is wrong in words for people, in their language, and to take the pass as
// soon as the hub is back.
func TestHubAway(t *testing.T) {
	m := openMuseum(t)
	hall, garden := m.kiosk("hall", newTold()), m.kiosk("garden", newTold())
	id := hall.startVisit("en")
	hall.pass(id, "day")
	text := hall.text(id)
	until(t, "the hall's outbox", hall.drained)
	m.stop()
	until(t, "the loss of the hub", func() bool { return !garden.link.State().Connected && !hall.link.State().Connected })
	body, err := json.Marshal(map[string]string{"pass": text})
	if err != nil {
		t.Fatal(err)
	}
	for lang, want := range map[string]string{"en": "The kiosks cannot reach each other at the moment", "zh": "导览机之间暂时无法联系"} {
		r := garden.do(http.MethodPost, "/api/v1/visit/resume?lang="+lang, "application/json", body)
		wantProblem(t, r, http.StatusServiceUnavailable, codeHubAway)
		if !bytes.Contains(r.body, []byte(want)) {
			t.Errorf("%s: %s", lang, r.body)
		}
	}
	wantProblem(t, hall.post("/api/v1/visit/pass", map[string]string{"visit": id, "keep": "day"}, http.StatusServiceUnavailable), http.StatusServiceUnavailable, codeHubAway)
	hall.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusOK) // it is open here
	m.start()
	until(t, "the garden's link", func() bool { return garden.link.State().Connected })
	garden.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusOK)
}

// TestForgottenEverywhere forgets a visit at the second kiosk, and looks through the raw files of both kiosks and the hub.
func TestForgottenEverywhere(t *testing.T) {
	m := openMuseum(t)
	first, second := newTold(), newTold()
	hall, garden := m.kiosk("hall", first), m.kiosk("garden", second)
	id := hall.startVisit("en")
	first.answers(t, hall.house, id, "My name is Zebulonia. I'm allergic to shellfish. Where are the quaggas?", "Here [1].")
	hall.pass(id, "day")
	text := hall.text(id)
	v, err := hall.visits.Get(id)
	if err != nil {
		t.Fatal(err)
	}
	late := passOf(v)
	lateBox, err := pass.Seal(late, pass.Of(v, nil))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the hall's outbox", hall.drained)
	garden.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusOK)
	second.answers(t, garden.house, id, "And the quaggas here?", "Here too [1].")
	until(t, "the question at the hub", func() bool { return traces(t, m.dir, "quaggas here") > 0 })

	garden.post("/api/v1/visit/forget", map[string]string{"visit": id}, http.StatusNoContent)
	until(t, "the end of the visit at the first kiosk", func() bool { return !hall.visits.Open(v.Name()) })
	wantProblem(t, hall.get("/api/v1/visit/memory?visit="+id), http.StatusNotFound, codeNoSuchVisit)
	for _, r := range []*room{hall, garden} {
		wantProblem(t, r.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusGone), http.StatusGone, codePassForgotten)
	}
	// What comes late is not taken: a carried state and a question.
	ctx := t.Context()
	for typ, data := range map[string]any{
		"visit.carried":     map[string]any{"visit": v.Name(), "number": 99, "expires": late.Expires, "box": lateBox},
		"question.answered": questionAsked{Visit: v.Name(), Question: "Late quaggas?", Sources: []string{}},
	} {
		if _, err := hall.box.Append(ctx, typ, data); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the outboxes", func() bool { return hall.drained() && garden.drained() })
	wantProblem(t, hall.post("/api/v1/visit/resume", map[string]string{"pass": text}, http.StatusGone), http.StatusGone, codePassForgotten)
	running := traces(t, m.dir, "quaggas") // database and log, while the hub runs
	if running != 0 {
		t.Errorf("%d traces at the hub while it runs", running)
	}
	hall.stop()
	garden.stop()
	m.stop()
	key := v.MemoryKey()
	for where, dir := range map[string]string{"hub": m.dir, "hall": hall.dir, "garden": garden.dir} {
		for _, secret := range []string{"Zebulonia", "shellfish", id, text, string(key[:])} {
			if n := traces(t, dir, secret); n != 0 {
				t.Errorf("%s: %d files hold %q", where, n, secret)
			}
		}
	}
	if n := traces(t, m.dir, "quaggas"); n != 0 {
		t.Errorf("%d traces at the hub after it ended", n)
	}
}

// traces is how many files below dir hold a text.
func traces(t testing.TB, dir, text string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && d.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		if bytes.Contains(data, []byte(text)) {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// shown is a camera before which a code is held.
type shown struct{ code gocv.Mat }

func (shown) Health() camera.Health                          { return camera.Health{State: camera.StateReady} }
func (shown) Preview(context.Context) (<-chan []byte, error) { return make(chan []byte), nil }
func (shown) Quality(context.Context) (<-chan camera.Quality, error) {
	return make(chan camera.Quality), nil
}
func (s shown) Burst(context.Context, int) (vision.Photo, error) {
	return vision.NewPhoto(s.code.Clone(), time.Now())
}

func TestPassBeforeTheCamera(t *testing.T) {
	m := openMuseum(t)
	hall := m.kiosk("hall", newTold())
	id := hall.startVisit("en")
	code := painted(t, hall.pass(id, "day").QR)
	defer code.Close()
	until(t, "the hall's outbox", hall.drained)
	garden := m.kiosk("garden", agent.New(agent.Options{}), func(o *Options) { o.Camera, o.Codes = shown{code}, qrcode.Reader{} })
	began := time.Now()
	next, closed := garden.listen("/api/v1/visit/scan")
	defer closed()
	event, data := next()
	t.Logf("seen and gone on after %s", time.Since(began).Round(time.Millisecond))
	var on resumed
	if err := json.Unmarshal([]byte(data), &on); err != nil || event != "pass" || on.Visit != id {
		t.Errorf("%s %s", event, data)
	}
}

var runsOf = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-\d+z`)

// painted is a drawn code as a picture, 8 pixels a square.
func painted(t *testing.T, svg string) gocv.Mat {
	t.Helper()
	side, err := strconv.Atoi(regexp.MustCompile(`viewBox="0 0 (\d+) `).FindStringSubmatch(svg)[1])
	if err != nil {
		t.Fatal(err)
	}
	const scale = 8
	img := image.NewRGBA(image.Rect(0, 0, side*scale, side*scale))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for _, r := range runsOf.FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.Atoi(r[1])
		y, _ := strconv.Atoi(r[2])
		n, _ := strconv.Atoi(r[3])
		for py := y * scale; py < (y+1)*scale; py++ {
			for px := x * scale; px < (x+n)*scale; px++ {
				i := img.PixOffset(px, py)
				img.Pix[i], img.Pix[i+1], img.Pix[i+2] = 0, 0, 0
			}
		}
	}
	mat, err := gocv.ImageToMatRGB(img)
	if err != nil {
		t.Fatal(err)
	}
	return mat
}
