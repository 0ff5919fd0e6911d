//go:build matprofile

package label

import (
	"context"
	"testing"

	"gocv.io/x/gocv"
)

// TestNoMatIsLeftOpen reads labels every way round, and nothing, and is interrupted.
func TestNoMatIsLeftOpen(t *testing.T) {
	stand(t, answers("cat >/dev/null"))
	r, err := Find(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	before := gocv.MatProfile.Count()
	for quarters := range 4 {
		for _, lines := range [][]string{{"205", "Hilbert curve", "David Hilbert, 1891"}, nil} {
			p := photo(t, turned(card(t, latin(t), paper, ink, lines...), quarters))
			if _, err := r.Read(t.Context(), p, both); err != nil {
				t.Error(err)
			}
			if _, err := r.Read(over, p, both); err == nil && lines != nil {
				t.Error("read after it was cancelled")
			}
			p.Close()
		}
	}
	if left := gocv.MatProfile.Count() - before; left != 0 {
		t.Errorf("%d Mats left open", left)
	}
}
