package synthetic

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"gocv.io/x/gocv"
)

// layout is where things hang on the flat scene, in its pixels.
type layout struct {
	size    image.Point
	picture image.Rectangle
	framed  image.Rectangle // picture with mount and frame
	label   image.Rectangle // empty when there is none
}

// arrange lays the scene out at about the resolution the photo needs.
func arrange(width, height int, p Params) layout {
	short := float64(min(width, height))
	outer := (p.Frame + p.Mat) * short
	framedW, framedH := float64(width)+2*outer, float64(height)+2*outer
	photo := p.Fill * min(float64(p.Width)/framedW, float64(p.Height)/framedH) // photo pixels for a picture's pixel
	// Not below the photo's resolution by more than a little, nor above the picture's own.
	scale := min(1, 1.15*photo)
	px := func(v float64) int { return int(math.Round(v * scale)) }

	var s layout
	border := px(outer)
	shadow := max(8, px(0.06*short))
	labelWidth := 0
	if p.Label {
		labelWidth = px(0.30*short) + shadow
	}
	at := image.Pt(shadow, shadow)
	w, h := max(2, px(float64(width))), max(2, px(float64(height)))
	s.framed = image.Rectangle{Min: at, Max: at.Add(image.Pt(w+2*border, h+2*border))}
	s.picture = s.framed.Inset(border)
	s.size = s.framed.Max.Add(image.Pt(shadow+labelWidth, shadow))
	if p.Label {
		cardW, cardH := px(0.24*short), px(0.15*short)
		left := s.framed.Max.X + shadow
		bottom := s.framed.Max.Y - px(0.08*short)
		s.label = image.Rect(left, bottom-cardH, left+cardW, bottom)
	}
	return s
}

// compose paints the scene: colours, and how much each place covers the wall (0…255). The caller closes both.
func compose(src gocv.Mat, p Params, s layout, rng *rand.Rand) (scene, cover gocv.Mat) {
	scene = gocv.NewMatWithSizeFromScalar(gocv.NewScalar(12, 12, 12, 0), s.size.Y, s.size.X, gocv.MatTypeCV8UC3)
	cover = gocv.NewMatWithSizeFromScalar(gocv.NewScalar(0, 0, 0, 0), s.size.Y, s.size.X, gocv.MatTypeCV8UC1)

	// The shadow falls to the lower right and is soft.
	if p.Shadow > 0 {
		depth := max(3, min(s.size.X, s.size.Y)/60)
		dark := grey(uint8(p.Shadow * 200))
		gocv.Rectangle(&cover, filled(s.framed.Add(image.Pt(depth/2, depth))), dark, -1)
		if !s.label.Empty() {
			gocv.Rectangle(&cover, filled(s.label.Add(image.Pt(2, 3))), dark, -1)
		}
		gocv.GaussianBlur(cover, &cover, image.Point{}, float64(depth)*0.6, 0, gocv.BorderReplicate)
	}

	gocv.Rectangle(&cover, filled(s.framed), grey(255), -1)
	if p.Frame > 0 {
		bevel(&scene, s.framed, s.picture, p)
	}
	if p.Mat > 0 {
		width := int(math.Round(float64(s.picture.Min.X-s.framed.Min.X) * p.Mat / (p.Frame + p.Mat)))
		gocv.Rectangle(&scene, filled(s.picture.Inset(-width)), p.MatColor, -1)
		gocv.Rectangle(&scene, s.picture.Inset(-2), shade(p.MatColor, 0.8), 1)
	}

	small := gocv.NewMat()
	defer small.Close()
	gocv.Resize(src, &small, s.picture.Size(), 0, 0, gocv.InterpolationArea)
	place := scene.Region(s.picture)
	small.CopyTo(&place)
	place.Close()

	if !s.label.Empty() {
		gocv.Rectangle(&cover, filled(s.label), grey(255), -1)
		gocv.Rectangle(&scene, filled(s.label), color.RGBA{244, 243, 238, 255}, -1)
		writeLines(&scene, s.label, rng, 4)
	}
	return scene, cover
}

// bevel paints the frame's four sides, each lit a little differently.
func bevel(scene *gocv.Mat, outer, inner image.Rectangle, p Params) {
	corners := func(r image.Rectangle) [4]image.Point {
		return [4]image.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}}
	}
	o, i := corners(outer), corners(inner)
	for side, light := range []float64{1.12, 0.85, 0.72, 1.0} {
		next := (side + 1) % 4
		polygons := gocv.NewPointsVectorFromPoints([][]image.Point{{o[side], o[next], i[next], i[side]}})
		gocv.FillPolyWithParams(scene, polygons, shade(p.FrameColor, light), gocv.LineAA, 0, image.Point{})
		polygons.Close()
	}
}

var words = []string{
	"study", "after", "plate", "gift", "of", "the", "oil", "on", "panel", "1907", "ink", "about", "circle", "school",
	"untitled", "north", "garden", "lent", "by", "a", "friend", "view", "1868", "paper", "collection", "no.", "bronze",
}

// writeLines fills a card with lines of invented text, the first one larger.
func writeLines(img *gocv.Mat, card image.Rectangle, rng *rand.Rand, lines int) {
	step := float64(card.Dy()) / (float64(lines) + 1)
	for k := range lines {
		size := step / 42
		if k == 0 {
			size *= 1.35
		}
		text := ""
		for n := 2 + rng.IntN(3) + card.Dx()/int(step*9+1); n > 0; n-- {
			text += words[rng.IntN(len(words))] + " "
		}
		for len(text) > 1 && float64(gocv.GetTextSize(text, gocv.FontHersheySimplex, size, 1).X) > 0.9*float64(card.Dx()) {
			text = text[:len(text)-1]
		}
		at := image.Pt(card.Min.X+card.Dx()/20+1, card.Min.Y+int(step*(float64(k)+1.1)))
		gocv.PutTextWithParams(img, text, at, gocv.FontHersheySimplex, size, color.RGBA{60, 58, 56, 255}, max(1, int(size*1.6)), gocv.LineAA, false)
	}
}

// filled is the rectangle gocv needs to fill r, whose last pixels it counts in.
func filled(r image.Rectangle) image.Rectangle {
	return image.Rectangle{Min: r.Min, Max: r.Max.Sub(image.Pt(1, 1))}
}

func grey(v uint8) color.RGBA { return color.RGBA{v, v, v, 255} }

func shade(c color.RGBA, f float64) color.RGBA {
	mul := func(v uint8) uint8 { return uint8(min(255, float64(v)*f)) }
	return color.RGBA{mul(c.R), mul(c.G), mul(c.B), c.A}
}
