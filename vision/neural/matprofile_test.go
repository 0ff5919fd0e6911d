//go:build matprofile

package neural

import (
	"testing"

	"gocv.io/x/gocv"

	"docent/vision/internal/tinyonnx"
)

// TestNoMatIsLeftOpen describes whole pictures, parts and what cannot be described.
func TestNoMatIsLeftOpen(t *testing.T) {
	before := gocv.MatProfile.Count()
	func() {
		n, err := Open(tinyonnx.Colours().Encode(), asIs)
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		m := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(9, 90, 200, 0), 40, 60, gocv.MatTypeCV8UC3)
		defer m.Close()
		grey := gocv.NewMatWithSize(10, 10, gocv.MatTypeCV8UC1)
		defer grey.Close()
		for range 50 {
			if _, err := n.Describe(m); err != nil {
				t.Fatal(err)
			}
			if _, err := n.Describe(grey); err == nil {
				t.Fatal("a grey picture is described")
			}
		}
		if _, err := Open(tinyonnx.Colours().Encode(), Settings{Width: 32, Height: 32, Std: [3]float32{1, 1, 1}, Layer: "x"}); err == nil {
			t.Fatal("there is no such layer")
		}
	}()
	if after := gocv.MatProfile.Count(); after != before {
		t.Errorf("%d Mats are open, %d were before", after, before)
	}
}
