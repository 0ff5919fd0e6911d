package synthetic

import (
	"image/color"
	"math"
	"math/rand/v2"
)

// Difficulty is how carelessly a random photo is taken.
type Difficulty int

// The difficulties.
const (
	// Easy is a calm photo from the front: up to 12° aside, all of the picture in it, even light.
	Easy Difficulty = iota
	// Typical is what most visitors bring: up to 25° aside, a tilted phone, some glare, a little blur.
	Typical
	// Hard is from up to 40° aside, far off or cut by the edge, dark or bright, with glare, blur and noise.
	Hard
)

// Random draws the parameters of a photo from rng. They pass [Params.Check], and [Render] accepts them for any picture
// up to three times as long as wide.
func Random(rng *rand.Rand, difficulty Difficulty) Params {
	level := min(max(difficulty, Easy), Hard)
	// span draws evenly from ±reach of the difficulty.
	span := func(easy, typical, hard float64) float64 {
		return (2*rng.Float64() - 1) * [...]float64{easy, typical, hard}[level]
	}
	// upTo draws from 0 to the reach of the difficulty, mostly little.
	upTo := func(easy, typical, hard float64) float64 {
		f := rng.Float64()
		return f * f * [...]float64{easy, typical, hard}[level]
	}
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }

	p := Params{
		Width: DefaultWidth, Height: DefaultHeight,
		Seed:        rng.Uint64(),
		Wall:        wallColors[rng.IntN(len(wallColors))],
		Texture:     between(0.005, 0.03),
		Shadow:      between(0.2, 0.7),
		Label:       rng.IntN(3) > 0,
		ShiftX:      span(0.04, 0.09, 0.17),
		ShiftY:      span(0.04, 0.09, 0.17),
		Yaw:         span(12, 25, 40),
		Pitch:       span(6, 11, 18),
		Roll:        span(2, 6, 12),
		View:        between(55, 75),
		Light:       upTo(0.15, 0.45, 0.7),
		LightAngle:  between(0, 360),
		Vignette:    upTo(0.1, 0.25, 0.4),
		Exposure:    span(0.3, 0.7, 1.5),
		MotionAngle: between(0, 180),
		Defocus:     upTo(0.6, 1.3, 2.4),
		Motion:      upTo(1, 4, 10),
		Noise:       between(0.5, 2) + upTo(1, 4, 10),
	}
	if rng.IntN(2) == 0 {
		p.Width, p.Height = p.Height, p.Width
	}
	if rng.IntN(5) > 0 {
		p.Frame, p.FrameColor = between(0.02, 0.09), frameColors[rng.IntN(len(frameColors))]
		if rng.IntN(2) == 0 {
			p.Mat, p.MatColor = between(0.04, 0.14), color.RGBA{245, 242, 234, 255}
		}
	}
	switch level {
	case Easy:
		p.Fill, p.Quality = between(0.72, 0.95), 85+rng.IntN(11)
	case Typical:
		p.Fill, p.Quality = between(0.55, 1.05), 70+rng.IntN(26)
	default:
		p.Fill, p.Quality = between(0.38, 1.20), 45+rng.IntN(46)
	}
	// Whoever stands far aside also stands farther off.
	p.Fill *= 1 - 0.35*math.Abs(p.Yaw)/40
	warm := span(0.04, 0.09, 0.16)
	p.Cast = [3]float64{1 + warm, 1 + span(0.01, 0.03, 0.05), 1 - warm}
	if glare := upTo(0, 0.7, 1); glare > 0.05 {
		p.Glare, p.GlareX, p.GlareY = glare, between(0, 1), between(0, 1)
		p.GlareSize = between(0.04, 0.10+0.12*float64(level))
	}
	return p
}

var wallColors = []color.RGBA{
	{238, 235, 228, 255}, {222, 222, 220, 255}, {200, 198, 190, 255}, {170, 176, 178, 255},
	{120, 52, 48, 255}, {58, 74, 92, 255}, {88, 100, 84, 255}, {196, 178, 150, 255}, {60, 58, 60, 255},
}

var frameColors = []color.RGBA{
	{32, 30, 30, 255}, {92, 60, 36, 255}, {160, 122, 70, 255}, {188, 152, 78, 255}, {240, 238, 232, 255}, {120, 122, 126, 255},
}
