package ingest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestContentGuide reads the example in docs/content.md: what people copy from there must be right.
func TestContentGuide(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "content.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := regexp.MustCompile("(?m)^\\*\\*(\\S+)\\*\\*.*\n(?:[^`\n].*\n)*\n```\\w*\n((?s:.*?))\n```$").FindAllSubmatch(guide, -1)
	for _, f := range files {
		write(t, filepath.Join(dir, string(f[1])), f[2])
	}
	if len(files) != 4 {
		t.Fatalf("found %d files in the guide, want gallery.yaml, vase.md, vase.zh.md and history.md", len(files))
	}
	// What the example speaks of and does not show.
	write(t, filepath.Join(dir, "pictures", "vase.jpg"), picture(t, "vase.jpg", 400, 500))
	write(t, filepath.Join(dir, "pictures", "bell.png"), picture(t, "bell.png", 400, 400))
	write(t, filepath.Join(dir, "exhibits", "bell.md"), []byte("---\nhall: bronze\ntitle: Bell\npictures: [{file: pictures/bell.png, alt: A bell}]\n---\nA bell.\n"))
	write(t, filepath.Join(dir, "exhibits", "bell.zh.md"), []byte("---\ntitle: 钟\npictures: [{alt: 一口钟}]\n---\n一口钟。\n"))

	g, problems, err := Read(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	if len(g.Exhibits) != 2 || g.Exhibits[0].Title["zh"] != "青花瓶" {
		t.Errorf("exhibits are %+v", g.Exhibits)
	}
}
