//go:build matprofile

package selftest

import (
	"io"
	"path/filepath"
	"testing"

	"gocv.io/x/gocv"

	"docent/vision"
)

// TestNoMatIsLeftOpen tries a gallery, on a kiosk, too, and writes its page.
func TestNoMatIsLeftOpen(t *testing.T) {
	dir, g := rooms(t)
	_, r := indexed(t, dir, g)
	path := func(f string) string { return filepath.Join(dir, f) }
	before := gocv.MatProfile.Count()
	report, views, err := Run(t.Context(), r, g, path, vision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Try(t.Context(), r, views, func(f string) (string, bool) { return path(f), true }); err != nil {
		t.Fatal(err)
	}
	if err := WritePage(io.Discard, g, report, path, "zh"); err != nil {
		t.Fatal(err)
	}
	g.Exhibits[0].Pictures[0].File = "missing.png"
	if _, _, err := Run(t.Context(), r, g, path, vision.Options{}); err == nil {
		t.Error("a missing picture is no error")
	}
	if after := gocv.MatProfile.Count(); after != before {
		t.Errorf("%d Mats are open, %d were before", after, before)
	}
}
