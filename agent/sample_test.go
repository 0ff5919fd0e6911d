package agent

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"docent/localindex"
	"docent/localindex/gallery"
)

// releaseLibrary is a library over an opened release, as the kiosk makes one.
type releaseLibrary struct{ release *localindex.Release }

var _ Library = releaseLibrary{}

func (l releaseLibrary) Release() string { return l.release.Manifest().ID }

func (l releaseLibrary) Exhibit(id string) (gallery.Exhibit, bool) { return l.release.Exhibit(id) }

func (l releaseLibrary) Gallery() *gallery.Gallery { return l.release.Gallery() }

func (l releaseLibrary) Sections(exhibit, language string) []Section {
	var out []Section
	for _, s := range l.release.Sections(exhibit, language) {
		out = append(out, Section{Section: s, Passages: l.release.SectionPassages(s.ID)})
	}
	return out
}

func (l releaseLibrary) Search(ctx context.Context, q Query) ([]Hit, error) {
	hits, err := l.release.Search(ctx, localindex.Query{Text: q.Text, Language: q.Language, Domains: q.Domains, Exhibit: q.Exhibit, Limit: q.Limit})
	if err != nil {
		return nil, err
	}
	out := make([]Hit, len(hits))
	for i, h := range hits {
		out[i] = Hit(h)
	}
	return out, nil
}

// sample is the release of the sample gallery's texts, built once for all tests; its pictures are blank.
var sample struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if sample.dir != "" {
		_ = os.RemoveAll(sample.dir)
	}
	os.Exit(code)
}

// sampleLibrary opens the sample gallery.
func sampleLibrary(t testing.TB) Library {
	t.Helper()
	sample.once.Do(func() { sample.dir, sample.err = buildSample() })
	if sample.err != nil {
		t.Fatal(sample.err)
	}
	release, err := localindex.Open(context.Background(), filepath.Join(sample.dir, "release"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = release.Close() })
	return releaseLibrary{release}
}

var pictureFile = regexp.MustCompile(`(?m)^\s*- file: (\S+)$`)

func buildSample() (dir string, err error) {
	dir, err = os.MkdirTemp("", "docent-agent-")
	if err != nil {
		return "", err
	}
	authored := filepath.Join(dir, "gallery")
	if err := os.CopyFS(authored, os.DirFS(filepath.Join("..", "localindex", "sample", "content"))); err != nil {
		return dir, err
	}
	var blank bytes.Buffer
	if err := png.Encode(&blank, image.NewGray(image.Rect(0, 0, 600, 600))); err != nil {
		return dir, err
	}
	exhibits, err := filepath.Glob(filepath.Join(authored, "exhibits", "*.md"))
	if err != nil {
		return dir, err
	}
	for _, file := range exhibits {
		text, err := os.ReadFile(file)
		if err != nil {
			return dir, err
		}
		for _, m := range pictureFile.FindAllSubmatch(text, -1) {
			picture := filepath.Join(authored, filepath.FromSlash(string(m[1])))
			if err := os.MkdirAll(filepath.Dir(picture), 0o755); err != nil {
				return dir, err
			}
			if err := os.WriteFile(picture, blank.Bytes(), 0o644); err != nil {
				return dir, err
			}
		}
	}
	_, _, err = localindex.Build(context.Background(), authored, filepath.Join(dir, "release"), localindex.Options{Number: 1})
	return dir, err
}
