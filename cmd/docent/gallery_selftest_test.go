package main

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"docent/localindex"
	"docent/localindex/release"
	"docent/vision"
	"docent/vision/selftest"
	"docent/vision/synthetic"
)

// TestGalleryBuildTriesRecognition builds a gallery of a poster that two exhibits share and two others, and follows what
// the self-test found to its staff and to a kiosk.
func TestGalleryBuildTriesRecognition(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"one.png", "two.png", "four.png"} {
		m, err := synthetic.DistractorOf(synthetic.Poster, seeded(uint64(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if !gocv.IMWrite(filepath.Join(dir, name), m) {
			t.Fatalf("cannot write %s", name)
		}
		m.Close()
	}
	table := "id,title,title_zh,image\none,One,一,one.png\ntwo,Two,二,two.png\nthree,Three,三,two.png\nfour,Four,四,four.png\n"
	if err := os.WriteFile(filepath.Join(dir, "catalogue.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	terminal := &terminal{out: &out, err: io.Discard, log: slog.New(slog.DiscardHandler)}
	if err := (galleryBuildCmd{Dir: dir, SelfTest: true}).Run(t.Context(), terminal); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{"made-up photos of 4 of 4 pictures", "three and two look alike", "1-recognition.en.html"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("build does not say %q:\n%s", want, &out)
		}
	}
	for _, language := range []string{"en", "zh"} {
		page, err := os.ReadFile(filepath.Join(dir, "releases", "1-recognition."+language+".html"))
		if err != nil || !strings.Contains(string(page), map[string]string{"en": "Two", "zh": "二"}[language]) {
			t.Errorf("the page for staff in %s: %v", language, err)
		}
	}
	out.Reset()
	if err := (galleryStatusCmd{Dir: dir}).Run(t.Context(), terminal); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Release 1\n", "three and two look alike", "1-recognition.en.html and "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("status does not say %q:\n%s", want, &out)
		}
	}

	shown := &content{log: terminal.log}
	o, err := shown.open(t.Context(), filepath.Join(dir, "releases", "1"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.close(); err != nil {
			t.Error(err)
		}
	}()
	if views, err := selftest.Views(o.release.PartDir(selftest.PartName)); err != nil || len(views) == 0 {
		t.Errorf("the release has no photos to try: %v, %v", views, err)
	}
	if err := o.tryOut(t.Context()); err != nil {
		t.Errorf("a kiosk refuses the release: %v", err)
	}
}

// TestKioskRefusesAnIndexThatRecognisesNothing gives a kiosk a release whose index is of other pictures.
func TestKioskRefusesAnIndexThatRecognisesNothing(t *testing.T) {
	dir := t.TempDir()
	m, err := synthetic.DistractorOf(synthetic.Poster, seeded(7))
	if err != nil {
		t.Fatal(err)
	}
	if !gocv.IMWrite(filepath.Join(dir, "other.png"), m) {
		t.Fatal("cannot write other.png")
	}
	m.Close()
	index := filepath.Join(dir, "index")
	if err := os.Mkdir(index, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := vision.BuildIndex(t.Context(), []vision.Reference{{ExhibitID: "other", Picture: "other.png", Path: filepath.Join(dir, "other.png")}}, index, vision.Options{}); err != nil {
		t.Fatal(err)
	}
	recogniser, err := vision.Open(index, vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gallery := filepath.Join(dir, "gallery")
	if err := os.Mkdir(gallery, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a.png", "b.png"} {
		m, err := synthetic.DistractorOf(synthetic.Poster, seeded(uint64(i+20)))
		if err != nil {
			t.Fatal(err)
		}
		gocv.IMWrite(filepath.Join(gallery, name), m)
		m.Close()
	}
	if err := os.WriteFile(filepath.Join(gallery, "catalogue.csv"), []byte("id,title\na,Alpha\nb,Beta\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "release")
	if _, _, err := localindex.Build(t.Context(), gallery, at, localindex.Options{Parts: []release.Part{vision.IndexPart{}, selftest.Part{}}}); err != nil {
		t.Fatal(err)
	}
	r, err := localindex.Open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	o := &opened{dir: at, release: r, recogniser: recogniser}
	defer func() {
		if err := o.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := o.tryOut(t.Context()); err == nil || !strings.Contains(err.Error(), "self-test") {
		t.Errorf("the kiosk takes it: %v", err)
	}
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 1)) }
