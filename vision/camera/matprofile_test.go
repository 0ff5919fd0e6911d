//go:build matprofile

package camera

import (
	"testing"
	"testing/synctest"
	"time"

	"gocv.io/x/gocv"
)

// TestNoMatIsLeftOpen runs a camera through failures, bursts, previews and closing.
func TestNoMatIsLeftOpen(t *testing.T) {
	before := gocv.MatProfile.Count()
	synctest.Test(t, func(t *testing.T) {
		closes := 0
		c := Start(Options{Open: func() (Source, error) {
			return &script{closed: &closes, next: func(n int) (int, float64, error) {
				if n == 30 {
					return 0, 0, errNoFrame
				}
				return 200, 0, nil
			}}, nil
		}})
		for range 20 {
			time.Sleep(700 * time.Millisecond)
			if p, err := c.Burst(t.Context(), 3); err == nil {
				p.Close()
			}
			if p, err := c.Latest(); err == nil {
				p.Close()
			}
			_, _ = c.Preview(t.Context())
		}
		c.Close()
	})
	if left := gocv.MatProfile.Count() - before; left != 0 {
		t.Errorf("%d Mats left open", left)
	}
}
