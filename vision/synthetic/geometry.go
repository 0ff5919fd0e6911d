package synthetic

import (
	"errors"
	"math"
)

// Point is a place on a photo as fractions of its width and height, from the upper left corner; it may lie outside.
type Point struct{ X, Y float64 }

// errBehind says that part of the scene would lie behind or in the lens.
var errBehind = errors.New("the camera would touch the wall: too close for this angle")

// homography maps the plane to the plane; rows of a 3×3 matrix.
type homography [9]float64

func (h homography) apply(x, y float64) (float64, float64) {
	w := h[6]*x + h[7]*y + h[8]
	return (h[0]*x + h[1]*y + h[2]) / w, (h[3]*x + h[4]*y + h[5]) / w
}

func (h homography) times(g homography) homography {
	var out homography
	for r := range 3 {
		for c := range 3 {
			for k := range 3 {
				out[3*r+c] += h[3*r+k] * g[3*k+c]
			}
		}
	}
	return out
}

// pinhole is the map from scene pixels to photo pixels of a camera that looks at the middle of the scene's picture.
func pinhole(p Params, s layout) (homography, error) {
	f := float64(max(p.Width, p.Height)) / 2 / math.Tan(p.View*math.Pi/360)
	framed := s.framed
	// Photo pixels for each scene pixel at the picture's middle, and the distance (in scene pixels) that gives them.
	scale := p.Fill * min(float64(p.Width)/float64(framed.Dx()), float64(p.Height)/float64(framed.Dy()))
	distance := f / scale

	sy, cy := math.Sincos(p.Yaw * math.Pi / 180)
	sx, cx := math.Sincos(p.Pitch * math.Pi / 180)
	sz, cz := math.Sincos(p.Roll * math.Pi / 180)
	// First two columns of Rz·Rx·Ry, and the way to the wall.
	r1 := [3]float64{cy, sx * sy, -cx * sy}
	r2 := [3]float64{0, cx, sx}
	for _, r := range []*[3]float64{&r1, &r2} {
		r[0], r[1] = cz*r[0]-sz*r[1], sz*r[0]+cz*r[1]
	}
	camera := homography{
		f * r1[0], f * r2[0], 0,
		f * r1[1], f * r2[1], 0,
		r1[2], r2[2], distance,
	}
	mx, my := float64(s.picture.Min.X+s.picture.Max.X)/2, float64(s.picture.Min.Y+s.picture.Max.Y)/2
	toPlane := homography{1, 0, -mx, 0, 1, -my, 0, 0, 1}
	toPhoto := homography{1, 0, float64(p.Width) * (0.5 + p.ShiftX), 0, 1, float64(p.Height) * (0.5 + p.ShiftY), 0, 0, 1}
	h := toPhoto.times(camera).times(toPlane)
	for _, x := range []float64{0, float64(s.size.X)} {
		for _, y := range []float64{0, float64(s.size.Y)} {
			if h[6]*x+h[7]*y+h[8] < 0.12*distance {
				return h, errBehind
			}
		}
	}
	return h, nil
}
