//go:build matprofile

package kiosk

import (
	"context"
	"errors"
	"image/color"
	"net/http"
	"testing"

	"gocv.io/x/gocv"

	"docent/vision"
	"docent/vision/camera"
)

// TestNoMatIsLeftOpen sends photos by every way they can go well or wrong.
func TestNoMatIsLeftOpen(t *testing.T) {
	l := &lens{state: camera.StateReady, jpeg: board(black, 640, 480)}
	h := open(t, func(o *Options) { o.Camera = l })
	visit := h.startVisit("en")
	whole := jpegOf(t, board(color.RGBA{9, 9, 200, 255}, 4200, 300))
	before := gocv.MatProfile.Count()
	for range 20 {
		for _, r := range []vision.Recognition{match("red-fan"), match("gone"), {Decision: vision.DecisionUnknown}} {
			h.recogniser.set(r, nil)
			h.photo(visit, whole)
			h.do(http.MethodPost, "/api/v1/photo?visit="+visit, "", nil)
		}
		for _, err := range []error{errors.New("broken"), context.DeadlineExceeded} {
			h.recogniser.set(vision.Recognition{}, err)
			h.photo(visit, whole)
		}
		for _, file := range [][]byte{nil, whole[:len(whole)/2], board(black, 1, 1), headerBomb(), board(black, 64, 5000)} {
			h.photo(visit, file)
		}
		h.get("/api/v1/pictures/blue-bowl.png?w=320")
	}
	if left := gocv.MatProfile.Count() - before; left != 0 {
		t.Errorf("%d Mats left open", left)
	}
}
