package synthetic

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"gocv.io/x/gocv"
)

// Render takes a photo of a picture (BGR, 8 bits, 3 channels), which stays the caller's and is not changed. It returns
// the photo (BGR, 8UC3), which the caller closes, and the picture's four corners on it, clockwise from its upper left
// one. It takes about 80 ms of processor time for 1024 × 768 pixels.
func Render(src gocv.Mat, p Params) (photo gocv.Mat, outline [4]Point, err error) {
	if src.Empty() || src.Type() != gocv.MatTypeCV8UC3 {
		return gocv.Mat{}, outline, fmt.Errorf("render photo: the picture is empty or not BGR of 8 bits")
	}
	if err := p.Check(); err != nil {
		return gocv.Mat{}, outline, fmt.Errorf("render photo: %w", err)
	}
	p = p.withDefaults()
	s := arrange(src.Cols(), src.Rows(), p)
	h, err := pinhole(p, s)
	if err != nil {
		return gocv.Mat{}, outline, fmt.Errorf("render photo: %w", err)
	}
	corners := []image.Point{s.picture.Min, {X: s.picture.Max.X, Y: s.picture.Min.Y}, s.picture.Max, {X: s.picture.Min.X, Y: s.picture.Max.Y}}
	for i, c := range corners {
		x, y := h.apply(float64(c.X), float64(c.Y))
		outline[i] = Point{x / float64(p.Width), y / float64(p.Height)}
	}

	rng := rand.New(rand.NewPCG(p.Seed, 0x73796e7468))
	scene, cover := compose(src, p, s, rng)
	defer scene.Close()
	defer cover.Close()
	seen, seenCover := warp(scene, p, h), warp(cover, p, h)
	defer seen.Close()
	defer seenCover.Close()
	photo, err = wall(p, rng)
	if err != nil {
		return gocv.Mat{}, outline, fmt.Errorf("render photo: %w", err)
	}
	if err := develop(&photo, seen, seenCover, p, s, h); err != nil {
		photo.Close()
		return gocv.Mat{}, outline, fmt.Errorf("render photo: %w", err)
	}
	if err := expose(&photo, p, rng); err != nil {
		photo.Close()
		return gocv.Mat{}, outline, fmt.Errorf("render photo: %w", err)
	}
	return photo, outline, nil
}

// warp looks at a flat picture through the camera.
func warp(flat gocv.Mat, p Params, h homography) gocv.Mat {
	m := gocv.NewMatWithSize(3, 3, gocv.MatTypeCV64F)
	defer m.Close()
	// OpenCV counts from the middle of the first pixel, we from its corner.
	shift := homography{1, 0, 0.5, 0, 1, 0.5, 0, 0, 1}
	back := homography{1, 0, -0.5, 0, 1, -0.5, 0, 0, 1}
	for i, v := range back.times(h).times(shift) {
		m.SetDoubleAt(i/3, i%3, v)
	}
	out := gocv.NewMat()
	gocv.WarpPerspectiveWithParams(flat, &out, m, image.Pt(p.Width, p.Height), gocv.InterpolationLinear, gocv.BorderConstant, color.RGBA{})
	return out
}

// wall is the empty wall: its colour, with plaster of three grains.
func wall(p Params, rng *rand.Rand) (gocv.Mat, error) {
	w := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(float64(p.Wall.B), float64(p.Wall.G), float64(p.Wall.R), 0), p.Height, p.Width, gocv.MatTypeCV8UC3)
	if p.Texture == 0 {
		return w, nil
	}
	sum := make([]float32, p.Width*p.Height)
	for _, grain := range []struct {
		size   int
		weight float64
	}{{64, 1}, {12, 0.6}, {3, 0.7}} {
		addGrain(sum, p.Width, p.Height, grain.size, grain.weight*p.Texture*255, rng)
	}
	pix, err := w.DataPtrUint8()
	if err != nil {
		w.Close()
		return gocv.Mat{}, err
	}
	for i, v := range sum {
		for k := range 3 {
			pix[3*i+k] = clamp8(float32(pix[3*i+k]) + v)
		}
	}
	return w, nil
}

// addGrain adds smooth noise with features of size pixels.
func addGrain(sum []float32, w, h, size int, amplitude float64, rng *rand.Rand) {
	gw, gh := w/size+2, h/size+2
	grid := make([]float32, gw*gh)
	for i := range grid {
		grid[i] = float32(amplitude * rng.NormFloat64())
	}
	for y := range h {
		gy, fy := y/size, float32(y%size)/float32(size)
		top, bottom := grid[gy*gw:], grid[(gy+1)*gw:]
		for x := range w {
			gx, fx := x/size, float32(x%size)/float32(size)
			a := top[gx] + (top[gx+1]-top[gx])*fx
			b := bottom[gx] + (bottom[gx+1]-bottom[gx])*fx
			sum[y*w+x] += a + (b-a)*fy
		}
	}
}

func clamp8(v float32) uint8 { return uint8(min(max(v, 0), 255) + 0.5) }

// develop lays the scene on the wall and lights both: gradient, vignette, exposure, cast and glare. The exposure and
// the cast act on linear light, so their gains apply to encoded values with the exponent 1/2.2.
func develop(photo *gocv.Mat, seen, cover gocv.Mat, p Params, s layout, h homography) error {
	out, err := photo.DataPtrUint8()
	if err != nil {
		return err
	}
	object, err := seen.DataPtrUint8()
	if err != nil {
		return err
	}
	alpha, err := cover.DataPtrUint8()
	if err != nil {
		return err
	}
	var gain [3]float32 // BGR
	for k := range 3 {
		gain[k] = float32(math.Pow(p.Cast[2-k]*math.Exp2(p.Exposure), 1/2.2))
	}
	w, ht := float64(p.Width), float64(p.Height)
	dx, dy := math.Cos(p.LightAngle*math.Pi/180), math.Sin(p.LightAngle*math.Pi/180)
	reach := math.Abs(dx) + math.Abs(dy) // of the direction over the photo, −reach…reach

	// The glare is an ellipse in the photo, bright in the middle.
	long := float64(max(s.picture.Dx(), s.picture.Dy()))
	gx, gy := h.apply(float64(s.picture.Min.X)+p.GlareX*float64(s.picture.Dx()), float64(s.picture.Min.Y)+p.GlareY*float64(s.picture.Dy()))
	radius := p.GlareSize * long * p.Fill * min(w/float64(s.framed.Dx()), ht/float64(s.framed.Dy()))
	glare := p.Glare > 0 && radius > 0

	for y := range p.Height {
		ny := (float64(y)+0.5)/ht*2 - 1
		for x := range p.Width {
			nx := (float64(x)+0.5)/w*2 - 1
			light := 1 - p.Light*(0.5+0.5*(nx*dx+ny*dy)/reach) - p.Vignette*0.5*(nx*nx+ny*ny)
			i := y*p.Width + x
			a := float32(alpha[i]) / 255
			white := 0.0
			if glare && a > 0.8 { // on the glass, not on the wall

				ex, ey := (float64(x)-gx)/radius, (float64(y)-gy)/(0.62*radius)
				if d := ex*ex + ey*ey; d < 9 {
					white = p.Glare * math.Exp(-d) * float64(a-0.8) * 5
				}
			}
			for k := range 3 {
				v := float32(out[3*i+k])*(1-a) + float32(object[3*i+k])*a
				v *= gain[k] * float32(light)
				v += (255 - min(v, 255)) * float32(white)
				out[3*i+k] = clamp8(v)
			}
		}
	}
	return nil
}
