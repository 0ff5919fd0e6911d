//go:build matprofile

package vision_test

import (
	"context"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"docent/vision"
)

// TestNoMatIsLeftOpenWithANetwork builds with a neural network, stops a build, and recognises works with and without
// details.
func TestNoMatIsLeftOpenWithANetwork(t *testing.T) {
	dir, g := house(t)
	before := gocv.MatProfile.Count()
	at, _ := built(t, dir, g)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (vision.IndexPart{}).Build(over, g, dir, t.TempDir()); err == nil {
		t.Error("a stopped build is done")
	}
	r := reopened(t, at)
	for _, m := range []gocv.Mat{glow(1), painting(1), glow(77)} {
		p, err := vision.NewPhoto(m, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		recognise(t, r, p)
		p.Close()
	}
	if left := gocv.MatProfile.Count() - before; left != 0 {
		t.Errorf("%d Mats left open", left)
	}
}
