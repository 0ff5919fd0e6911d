package vision_test

import (
	"testing"

	"gocv.io/x/gocv"

	"docent/vision"
)

// TestUploadsOfEveryKindAndTurn recognises a painting on files as phones send them, however the phone was held.
func TestUploadsOfEveryKindAndTurn(t *testing.T) {
	r := opened(t)
	upright, _ := photo(t, 3, nil)
	for turn, name := range []string{"upright", "on its right side", "upside down", "on its left side"} {
		img := upright.Image.Clone()
		for range turn {
			next := gocv.NewMat()
			gocv.Rotate(img, &next, gocv.Rotate90Clockwise)
			img.Close()
			img = next
		}
		for _, format := range []gocv.FileExt{".jpg", ".png", ".webp"} {
			buf, err := gocv.IMEncode(format, img)
			if err != nil {
				t.Fatal(err)
			}
			p, err := vision.Decode(append([]byte(nil), buf.GetBytes()...))
			buf.Close()
			if err != nil {
				t.Fatalf("%s %s: %v", format, name, err)
			}
			got := recognise(t, r, p)
			p.Close()
			if got.Decision != vision.DecisionMatch || got.Candidates[0].ExhibitID != "a3" {
				t.Errorf("%s %s: %s %+v", format, name, got.Decision, got.Candidates)
			}
		}
		img.Close()
	}
}
