package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEvaluateRetrieval(t *testing.T) {
	dir := t.TempDir()
	squad, report := filepath.Join(dir, "squad.json"), filepath.Join(dir, "report.json")
	text := `{"data":[{"paragraphs":[{"context":"The vessel was cast in clay.","qas":[{"id":"1","question":"How was the vessel cast?"}]},
	 {"context":"The bell has no clapper.","qas":[{"id":"2","question":"Has the bell a clapper?"}]}]}]}`
	if err := os.WriteFile(squad, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := docent(t, "evaluate", "retrieval", "--squad", squad, "--mode", "bm25", "--json", report)
	if code != exitDone || !strings.Contains(out, "2 questions, 2 passages (en), mode bm25") {
		t.Errorf("exit code %d, printed %s%s", code, out, errs)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Questions int     `json:"questions"`
		Mode      string  `json:"mode"`
		Recall    float64 `json:"recall_at_1"`
	}
	if err := json.Unmarshal(data, &r); err != nil || r.Questions != 2 || r.Mode != "bm25" || r.Recall != 1 {
		t.Errorf("report is %+v, %v", r, err)
	}
	for _, args := range [][]string{{"--squad", report}, {"--squad", squad, "--mode", "magic"}, {"--squad", "absent.json"}, {"--squad", squad, "--embeddings", "http://x"}} {
		if code, _, _ := docent(t, append([]string{"evaluate", "retrieval"}, args...)...); code != exitUsage {
			t.Errorf("evaluate retrieval %v: exit code %d, want %d", args, code, exitUsage)
		}
	}
}

func TestBenchSearch(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.json")
	code, out, errs := docent(t, "bench", "search", "--exhibits", "10", "--passages", "100", "--questions", "20", "--json", report)
	if code != exitDone || !strings.Contains(out, "passages of 10 exhibits") {
		t.Fatalf("exit code %d, printed %s%s", code, out, errs)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"passages", "passages_per_s", "open_ms", "p50_ms", "p95_ms", "p99_ms", "rss_mib"} {
		if n, ok := r[key].(float64); !ok || n <= 0 {
			t.Errorf("%s is %v", key, r[key])
		}
	}
}

func TestGalleryStatus(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"gallery.yaml":         "id: house\nname: House\nlanguages: [en]\ntime_zone: UTC\n",
		"documents/guide.html": "<h1>Guide</h1><p>Lockers stand beside the lift.</p>",
		"documents/bad.docx":   "no zip",
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, _ := docent(t, "gallery", "status", dir); code != exitDone || !strings.Contains(out, "No document") {
		t.Errorf("exit code %d, printed %s", code, out)
	}
	if code, out, _ := docent(t, "gallery", "check", dir); code != exitFailed || !strings.Contains(out, "documents/bad.docx: warning: this document is left out") {
		t.Errorf("exit code %d, printed %s", code, out)
	}
	code, out, errs := docent(t, "gallery", "status", "--log", dir)
	for _, want := range []string{"documents/guide.html  chunked", "documents/bad.docx    failed at parsed", "failed at parsed because open: this is not a DOCX file", "divided by structure, recursive"} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("exit code %d, printed %s%s; want %q", code, out, errs, want)
		}
	}
}
