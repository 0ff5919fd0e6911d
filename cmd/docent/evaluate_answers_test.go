package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// tinyHouse writes a gallery of one exhibit into dir, and returns its folder.
func tinyHouse(t *testing.T, dir string) string {
	t.Helper()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("house/gallery.yaml", "id: tiny\nname: {en: Tiny Gallery}\nlanguages: [en]\ntime_zone: Asia/Shanghai\nhalls: [{id: one, name: {en: Hall One}, floor: 0, outline: [[0, 0], [9, 0], [9, 9]]}]\n"+
		"venue: {tickets: [{name: {en: Adult}, price: {en: CNY 60}}], hours: [{day: tuesday, open: \"10:00\", close: \"18:00\"}]}\n")
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 400, 400))); err != nil {
		t.Fatal(err)
	}
	write("house/pictures/bowl.png", picture.String())
	write("house/exhibits/bowl.md", "---\nlabel: \"101\"\nhall: one\nat: [1, 1]\ntitle: Blue bowl\npictures:\n  - file: pictures/bowl.png\n    alt: A bowl.\n---\n\n## What you see\n\nA bowl with a blue glaze.\n")
	return filepath.Join(dir, "house")
}

func TestEvaluateAnswers(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	house := tinyHouse(t, dir)
	cases := write("cases.yaml", "now: 2026-12-01T12:00:00+08:00\ncases:\n  - {question: How much is a ticket for an adult, contains: [\"60\"], cite: [venue/en/tickets]}\n"+
		"  - {question: \"Are you open now?\", contains: [\"12:00\", \"18:00\"], cite: [venue/en/hours]}\n  - {question: \"Who painted the Mona Lisa?\", unanswerable: true}\n")
	code, stdout, stderr := docent(t, "evaluate", "answers", "--gallery", house, "--cases", cases, "--json", "-")
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var report struct {
		All struct {
			Cases, OK       int
			RefusalAccuracy float64 `json:"refusal_accuracy"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	if report.All.Cases != 3 || report.All.OK != 3 || report.All.RefusalAccuracy != 1 {
		t.Errorf("%s", stdout)
	}
	bad := write("bad.yaml", "cases: [{question: Why, must_cite: [x]}]")
	if code, _, stderr := docent(t, "evaluate", "answers", "--gallery", dir, "--cases", bad); code != exitUsage || !strings.Contains(stderr, "must_cite") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestJudgeAnswers has a model on a scripted server judge, beside the rules.
func TestJudgeAnswers(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "Bearer s3cret" {
			t.Errorf("key %q", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"{\"supported\":[true],\"relevant\":[],\"covered\":[],\"relevancy\":0,\"refused\":true}"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	t.Setenv("DOCENT_JUDGE_KEY", "s3cret")
	dir := t.TempDir()
	house, cases := tinyHouse(t, dir), filepath.Join(dir, "cases.yaml")
	if err := os.WriteFile(cases, []byte("cases: [{question: \"Who painted the Mona Lisa?\", unanswerable: true}]"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := docent(t, "evaluate", "answers", "--gallery", house, "--cases", cases, "--judge-url", server.URL, "--judge-model", "j")
	if code != exitDone || !strings.Contains(stdout, "by judge     1 judged    0 without verdict") || !strings.Contains(stdout, "refused 1.000, as the rules say 1.000") || asked.Load() != 1 {
		t.Errorf("exit code %d, asked %d times: %s\n%s", code, asked.Load(), stdout, stderr)
	}
	if code, _, _ := docent(t, "evaluate", "answers", "--gallery", house, "--cases", cases, "--judge-url", "nowhere"); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
}
