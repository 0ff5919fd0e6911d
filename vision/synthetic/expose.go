package synthetic

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"gocv.io/x/gocv"
)

// expose passes the photo through lens, hand, sensor and file: blur, motion, noise, JPEG.
func expose(photo *gocv.Mat, p Params, rng *rand.Rand) error {
	if p.Defocus > 0 {
		gocv.GaussianBlur(*photo, photo, image.Point{}, p.Defocus, 0, gocv.BorderReplicate)
	}
	if p.Motion >= 1 {
		smear(photo, p.Motion, p.MotionAngle)
	}
	if p.Noise > 0 {
		pix, err := photo.DataPtrUint8()
		if err != nil {
			return err
		}
		addNoise(pix, p.Width, p.Noise, rng)
	}
	if p.Quality == 0 {
		return nil
	}
	file, err := gocv.IMEncodeWithParams(gocv.JPEGFileExt, *photo, []int{gocv.IMWriteJpegQuality, p.Quality})
	if err != nil {
		return fmt.Errorf("encode JPEG: %w", err)
	}
	defer file.Close()
	decoded, err := gocv.IMDecode(file.GetBytes(), gocv.IMReadColor)
	if err != nil {
		return fmt.Errorf("decode JPEG: %w", err)
	}
	photo.Close()
	*photo = decoded
	return nil
}

// smear moves the photo along a line of the given length while it is exposed.
func smear(photo *gocv.Mat, length, angle float64) {
	side := 2*int(math.Ceil(length/2)) + 1
	kernel := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(0, 0, 0, 0), side, side, gocv.MatTypeCV32F)
	defer kernel.Close()
	dx, dy := math.Cos(angle*math.Pi/180), math.Sin(angle*math.Pi/180)
	const samples = 128
	middle := float64(side / 2)
	for k := range samples {
		t := (float64(k)+0.5)/samples - 0.5
		x, y := middle+dx*t*length, middle+dy*t*length
		x0, y0 := int(math.Floor(x)), int(math.Floor(y))
		fx, fy := x-float64(x0), y-float64(y0)
		for _, c := range []struct {
			x, y   int
			weight float64
		}{{x0, y0, (1 - fx) * (1 - fy)}, {x0 + 1, y0, fx * (1 - fy)}, {x0, y0 + 1, (1 - fx) * fy}, {x0 + 1, y0 + 1, fx * fy}} {
			if c.x >= 0 && c.y >= 0 && c.x < side && c.y < side {
				kernel.SetFloatAt(c.y, c.x, kernel.GetFloatAt(c.y, c.x)+float32(c.weight/samples))
			}
		}
	}
	gocv.Filter2D(*photo, photo, gocv.MatTypeCV8U, kernel, image.Pt(-1, -1), 0, gocv.BorderReplicate)
}

// addNoise adds normal noise to every value. It is read from a table, each row from a place of its own.
func addNoise(pix []uint8, width int, sigma float64, rng *rand.Rand) {
	table := make([]float32, 1<<15)
	for i := range table {
		table[i] = float32(sigma * rng.NormFloat64())
	}
	for row := 0; row < len(pix); row += 3 * width {
		at := rng.IntN(len(table))
		step := 1 + 2*rng.IntN(len(table)/2) // odd, so that the whole table is visited
		for i := range 3 * width {
			pix[row+i] = clamp8(float32(pix[row+i]) + table[(at+i*step)&(len(table)-1)])
		}
	}
}
