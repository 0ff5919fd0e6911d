//go:build matprofile

package synthetic

import (
	"math/rand/v2"
	"testing"

	"gocv.io/x/gocv"
)

// TestNoMatIsLeftOpen renders photos, failures and distractors and counts the Mats.
func TestNoMatIsLeftOpen(t *testing.T) {
	before := gocv.MatProfile.Count()
	rng := rand.New(rand.NewPCG(5, 5))
	src := quarters(t, 300, 200)
	for i := range 12 {
		photo, _, err := Render(src, Random(rng, Difficulty(i%3)))
		if err != nil {
			t.Fatal(err)
		}
		photo.Close()
	}
	if _, _, err := Render(src, Params{}); err == nil {
		t.Error("no error")
	}
	for k := range kinds {
		photo, err := DistractorOf(k, rng)
		if err != nil {
			t.Fatal(err)
		}
		photo.Close()
	}
	src.Close()
	if left := gocv.MatProfile.Count() - before; left != 0 {
		t.Errorf("%d Mats left open", left)
	}
}
