package ui

import (
	"errors"
	"io/fs"
	"regexp"
	"testing"
)

func TestKiosk(t *testing.T) {
	files, err := Kiosk()
	if errors.Is(err, ErrNotBuilt) {
		t.Skip("ui/kiosk/dist is empty: run make pages")
	}
	if err != nil {
		t.Fatal(err)
	}
	page, err := fs.ReadFile(files, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	// Every file that the page names must be in the binary.
	named := regexp.MustCompile(`(?:src|href)="(?:\./|/)([^"]+)"`).FindAllSubmatch(page, -1)
	if len(named) == 0 {
		t.Fatalf("index.html names no file:\n%s", page)
	}
	for _, m := range named {
		if _, err := fs.Stat(files, string(m[1])); err != nil {
			t.Errorf("index.html names %s: %v", m[1], err)
		}
	}
}
