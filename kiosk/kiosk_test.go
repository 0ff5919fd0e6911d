package kiosk

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"docent/agent"
	"docent/localindex"
	"docent/vision"
)

// tinyGallery is an authoring folder of three exhibits.
var tinyGallery = map[string]string{
	"gallery.yaml": `
id: tiny
name: {en: Tiny Gallery, zh: 小展馆}
languages: [en, zh]
time_zone: Asia/Shanghai
halls:
  - {id: one, name: {en: Hall One, zh: 一号厅}, floor: 1, outline: [[0, 0], [9, 0], [9, 9], [0, 9]]}
kiosks:
  - {id: door, hall: one, at: [1, 2]}
attract:
  - {en: Touch me, zh: 请触摸}
venue:
  address: {en: 1 Main Street, zh: 主街1号}
  hours: [{day: monday, open: "10:00", close: "18:00"}]
  rules: [{en: No flash, zh: 请勿使用闪光灯}]
`,
	"exhibits/red-fan.md": `---
label: "101"
hall: one
at: [2, 2]
title: The Red Fan
maker: Ada Painter
date: "1888"
pictures: [{file: pictures/red fan.png, alt: A red fan on silk}]
keywords: [silk]
related: [blue-bowl]
sources: [{key: cat1990, title: Catalogue of 1990, url: "https://example.org/c"}]
---

## What you see

The Red Fan was painted on silk by Ada Painter in 1888. It shows three cranes over a river[^cat1990].
`,
	"exhibits/red-fan.zh.md": `---
title: 红扇
maker: 艾达
date: "1888年"
pictures: [{alt: 绢上的红扇}]
---

## 画面里有什么

红扇由艾达于1888年绘在绢上。画面里有三只鹤飞过河面[^cat1990]。
`,
	"exhibits/blue-bowl.md": `---
label: "102"
hall: one
at: [4, 2]
title: The Blue Bowl
maker: Unknown potter
pictures: [{file: pictures/blue-bowl.png, alt: A blue bowl}]
---

## How it was made

The bowl was thrown on a wheel and glazed with cobalt.
`,
	"exhibits/blue-bowl.zh.md": `---
title: 蓝碗
maker: 佚名
pictures: [{alt: 蓝色的碗}]
---

## 怎样做成

碗在轮盘上拉坯，施钴蓝釉。
`,
}

func buildTiny() (string, error) {
	dir := filepath.Join(workshop, "tiny")
	src := filepath.Join(dir, "gallery")
	for name, text := range tinyGallery {
		path := filepath.Join(src, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return dir, err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return dir, err
		}
	}
	if err := os.MkdirAll(filepath.Join(src, "pictures"), 0o755); err != nil {
		return dir, err
	}
	for name, c := range map[string]color.RGBA{"red fan.png": {200, 0, 0, 255}, "blue-bowl.png": {0, 0, 200, 255}} {
		if err := os.WriteFile(filepath.Join(src, "pictures", name), board(c, 800, 600), 0o644); err != nil {
			return dir, err
		}
	}
	_, problems, err := localindex.Build(context.Background(), src, filepath.Join(dir, "release"), localindex.Options{Number: 7})
	if err != nil {
		return dir, fmt.Errorf("%w: %v", err, problems)
	}
	return dir, nil
}

var tinyOnce = sync.OnceValues(buildTiny)

// workshop is the folder for what all tests share.
var workshop string

func TestMain(m *testing.M) {
	var err error
	if workshop, err = os.MkdirTemp("", "docent-kiosk-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(workshop)
	os.Exit(code)
}

// openTiny opens the tiny release.
func openTiny(t testing.TB) *localindex.Release {
	t.Helper()
	dir, err := tinyOnce()
	if err != nil {
		t.Fatal(err)
	}
	r, err := localindex.Open(t.Context(), filepath.Join(dir, "release"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close release: %v", err)
		}
	})
	return r
}

var black = color.RGBA{0, 0, 0, 255}

// board is a PNG of a chequered board of one colour.
func board(c color.RGBA, w, h int) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			if (x/40+y/40)%2 == 0 {
				img.SetRGBA(x, y, c)
			} else {
				img.SetRGBA(x, y, color.RGBA{255, 255, 255, 255})
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// scripted is a recogniser that says what the test wants.
type scripted struct {
	mu     sync.Mutex
	answer vision.Recognition
	err    error
	block  chan struct{} // where set, recognising waits for it
}

func (s *scripted) set(r vision.Recognition, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.err = r, err
}

func (s *scripted) Recognise(ctx context.Context, p vision.Photo) (vision.Recognition, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Image.Empty() {
		return vision.Recognition{}, errors.New("empty photo")
	}
	if s.block != nil {
		select {
		case <-s.block:
		case <-ctx.Done():
			return vision.Recognition{}, ctx.Err()
		}
	}
	return s.answer, s.err
}

func match(exhibit string) vision.Recognition {
	return vision.Recognition{
		Decision: vision.DecisionMatch,
		Candidates: []vision.Candidate{{
			ExhibitID: exhibit, Confidence: .97, Inliers: 41, Outline: []vision.Point{{X: .1, Y: .1}, {X: .9, Y: .1}, {X: .9, Y: 1.1}, {X: .1, Y: .9}},
		}},
		Timings: vision.Timings{Features: 20 * time.Millisecond, Total: 30 * time.Millisecond},
	}
}

// recorder keeps events, or refuses them.
type recorder struct {
	mu     sync.Mutex
	events []recorded
	err    error
}

type recorded struct {
	Type string
	Data map[string]any
}

func (r *recorder) Append(_ context.Context, typ string, data any) (uint64, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return 0, err
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	r.events = append(r.events, recorded{typ, m})
	return uint64(len(r.events)), nil
}

// take returns the events since the last call.
func (r *recorder) take() []recorded {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.events
	r.events = nil
	return e
}

func (r *recorder) wantTypes(t *testing.T, want ...string) []recorded {
	t.Helper()
	events := r.take()
	var got []string
	for _, e := range events {
		got = append(got, e.Type)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("memory events (-want +got)\n%s", d)
	}
	return events
}

// house is a running kiosk.
type house struct {
	*Kiosk
	t          testing.TB
	base       string
	events     *recorder
	recogniser *scripted
	stop       func()
}

func open(t testing.TB, change ...func(*Options)) *house {
	t.Helper()
	h := &house{t: t, events: &recorder{}, recogniser: &scripted{}}
	o := Options{Config: DefaultConfig(), Recogniser: h.recogniser, Guide: agent.New(agent.Options{}), Events: h.events}
	o.Config.Listen, o.Config.DataDir, o.Config.Kiosk = "127.0.0.1:0", t.TempDir(), "door"
	o.Release = openTiny(t)
	for _, f := range change {
		f(&o)
	}
	k, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	h.Kiosk, h.base = k, "http://"+k.Addr()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- k.Run(ctx) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	t.Cleanup(h.stop)
	return h
}

// client keeps no connections, so that stopping a kiosk need not wait for them.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}

type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) json(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(r.body, v); err != nil {
		t.Fatalf("%v in %s", err, r.body)
	}
}

func (h *house) do(method, path, contentType string, body []byte, header ...string) reply {
	h.t.Helper()
	req, err := http.NewRequest(method, h.base+path, bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	return reply{resp.StatusCode, resp.Header, data}
}

func (h *house) get(path string, header ...string) reply {
	h.t.Helper()
	return h.do(http.MethodGet, path, "", nil, header...)
}

// post sends JSON and wants a status.
func (h *house) post(path string, body any, status int) reply {
	h.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	r := h.do(http.MethodPost, path, "application/json", data)
	if r.status != status {
		h.t.Fatalf("POST %s: status %d, want %d: %s", path, r.status, status, r.body)
	}
	return r
}

func (h *house) startVisit(language string) string {
	h.t.Helper()
	var v struct{ Visit string }
	h.post("/api/v1/visit/start", map[string]string{"language": language}, http.StatusCreated).json(h.t, &v)
	h.events.take()
	return v.Visit
}

// upload is a multipart body with one file in the field "photo".
func upload(file []byte) (contentType string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("photo", "photo.jpg")
	if err == nil {
		_, err = part.Write(file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err)
	}
	return w.FormDataContentType(), b.Bytes()
}

func (h *house) photo(visit string, file []byte) reply {
	h.t.Helper()
	typ, body := upload(file)
	return h.do(http.MethodPost, "/api/v1/photo?visit="+visit, typ, body)
}

// wantProblem checks that r is a problem document.
func wantProblem(t testing.TB, r reply, status int, code code) problemBody {
	t.Helper()
	var p problemBody
	if r.status != status || r.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("status %d and type %q, want %d and a problem: %s", r.status, r.header.Get("Content-Type"), status, r.body)
		return p
	}
	r.json(t, &p)
	if p.Code != code || p.Status != status || p.Title == "" || p.Detail == "" || p.Type == "" {
		t.Errorf("problem %+v, want code %s", p, code)
	}
	if r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("problem with Cache-Control %q", r.header.Get("Cache-Control"))
	}
	return p
}

func TestNewRefuses(t *testing.T) {
	valid := func() Options {
		c := DefaultConfig()
		c.Listen, c.DataDir = "127.0.0.1:0", t.TempDir()
		return Options{Config: c, Guide: agent.New(agent.Options{})}
	}
	for name, change := range map[string]func(*Options){
		"no guide":                   func(o *Options) { o.Guide = nil },
		"release without recogniser": func(o *Options) { o.Release = openTiny(t) },
		"configuration not valid":    func(o *Options) { o.Config.Camera.Burst = 0 },
		"address of another machine": func(o *Options) { o.Config.Listen = "192.0.2.1:80" },
		"data folder that is a file": func(o *Options) { o.Config.DataDir = os.Args[0] },
		"recogniser without release": func(o *Options) { o.Recogniser = &scripted{} },
	} {
		o := valid()
		change(&o)
		if k, err := New(o); err == nil {
			k.Close()
			t.Errorf("%s: accepted", name)
		}
	}
	k, err := New(valid())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
}

func TestKioskWithoutContent(t *testing.T) {
	h := open(t, func(o *Options) { o.Release, o.Recogniser = nil, nil })
	for _, path := range []string{"/readyz", "/api/v1/gallery", "/api/v1/exhibits", "/api/v1/exhibits/x", "/api/v1/passages/x", "/api/v1/pictures/x", "/api/v1/venue"} {
		wantProblem(t, h.get(path), http.StatusServiceUnavailable, codeNotReady)
	}
	if r := h.get("/healthz"); r.status != http.StatusOK {
		t.Errorf("healthz: %d", r.status)
	}
	r := h.do(http.MethodPost, "/api/v1/visit/start", "application/json", []byte(`{"language":"en"}`))
	wantProblem(t, r, http.StatusServiceUnavailable, codeNotReady)
	if err := h.Switch(t.Context(), openTiny(t), h.recogniser); err != nil {
		t.Fatal(err)
	}
	h.startVisit("en")
}

func TestSwitchWaitsForTheUsersOfTheReleaseBefore(t *testing.T) {
	h := open(t)
	content, giveBack, ok := h.shelf.take()
	if !ok {
		t.Fatal("no content")
	}
	switched := make(chan error, 1)
	go func() { switched <- h.Switch(context.Background(), openTiny(t), h.recogniser) }()
	for { // until the new release is current
		now, back, _ := h.shelf.take()
		back()
		if now != content {
			break
		}
	}
	select {
	case err := <-switched:
		t.Fatalf("switched while the release before was in use: %v", err)
	default:
	}
	giveBack()
	giveBack() // twice does no harm
	if err := <-switched; err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, giveBack, _ = h.shelf.take()
	defer giveBack()
	if err := h.Switch(ctx, openTiny(t), h.recogniser); !errors.Is(err, context.Canceled) {
		t.Errorf("a switch that is given up: %v", err)
	}
}
