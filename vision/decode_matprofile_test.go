//go:build matprofile

package vision

import (
	"testing"

	"gocv.io/x/gocv"
)

// TestDecodeLeavesNoMatOpen decodes pictures of all kinds, and those that are refused at every step.
func TestDecodeLeavesNoMatOpen(t *testing.T) {
	img := quarters(400, 300)
	whole := jpegBytes(t, img)
	before := gocv.MatProfile.Count()
	for name, data := range map[string][]byte{
		"JPEG": whole, "PNG": pngBytes(t, img), "WebP": webpBytes(t, img), "large": jpegBytes(t, quarters(4200, 2000)),
		"nothing": nil, "text": []byte("text"), "HEIC": ftyp("heic", "mif1"), "bomb": pngBomb(20_000, 20_000), "small": pngBytes(t, quarters(20, 20)),
		"header alone": whole[:30], "half": whole[:len(whole)/2], "half a PNG": pngBytes(t, img)[:200], "half a WebP": webpBytes(t, img)[:40],
	} {
		if p, err := Decode(data); err == nil {
			p.Close()
		}
		if left := gocv.MatProfile.Count() - before; left != 0 {
			t.Errorf("%s: %d Mats left open", name, left)
		}
	}
}
