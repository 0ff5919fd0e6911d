package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// grayScott runs the Gray–Scott reaction on a w×h grid whose outermost cells stand for those beyond its edge, and
// returns the second substance. Feed and kill are given for each cell (Pearson 1993); diffusion is 1 and ½, the time
// step 1.
func grayScott(w, h, steps int, u, v, feed, kill []float32) []float32 {
	nu, nv := make([]float32, w*h), make([]float32, w*h)
	for range steps {
		closeEdges(u, w, h)
		closeEdges(v, w, h)
		for y := 1; y < h-1; y++ {
			at := func(grid []float32, row int) []float32 { return grid[row*w : row*w+w : row*w+w] }
			u0, u1, u2 := at(u, y-1), at(u, y)[:w], at(u, y+1)
			v0, v1, v2 := at(v, y-1), at(v, y)[:w], at(v, y+1)
			f, k, ou, ov := at(feed, y), at(kill, y), at(nu, y), at(nv, y)
			for x := 1; x < w-1; x++ {
				a, b := u1[x], v1[x]
				// Nine-point Laplacian: sides 0.2, corners 0.05.
				la := 0.2*(u1[x-1]+u1[x+1]+u0[x]+u2[x]) + 0.05*(u0[x-1]+u0[x+1]+u2[x-1]+u2[x+1]) - a
				lb := 0.2*(v1[x-1]+v1[x+1]+v0[x]+v2[x]) + 0.05*(v0[x-1]+v0[x+1]+v2[x-1]+v2[x+1]) - b
				reaction := a * b * b
				ou[x] = a + la - reaction + f[x]*(1-a)
				ov[x] = b + 0.5*lb + reaction - (k[x]+f[x])*b
			}
		}
		u, nu = nu, u
		v, nv = nv, v
	}
	closeEdges(v, w, h)
	return v
}

// closeEdges copies the last cells inside to the edge, so that nothing flows across it.
func closeEdges(grid []float32, w, h int) {
	copy(grid[:w], grid[w:2*w])
	copy(grid[(h-1)*w:], grid[(h-2)*w:(h-1)*w])
	for y := range h {
		grid[y*w], grid[y*w+w-1] = grid[y*w+1], grid[y*w+w-2]
	}
}

// turingPattern lets feed and kill rates drift over the sheet, so that spots turn to stripes and stripes to a maze.
func turingPattern(c *canvas.Canvas) {
	rng := seeded(305)
	noise := canvas.NewNoise(rng)
	const margin, cell = 90, 5.0
	w, h := int((c.Width-2*margin)/cell), int((c.Height-2*margin)/cell)
	n := w * h
	u, v, feed, kill := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for y := range h {
		for x := range w {
			i := y*w + x
			t := float64(x)/float64(w)*0.75 + float64(y)/float64(h)*0.25 + 0.22*noise.At(complex(float64(x), float64(y))/70)
			t = min(max(t, 0), 0.86)
			// Along the edge of the pattern-forming region: solitary spots, then worms, then a maze, then holes.
			feed[i] = float32(0.030 + 0.019*t)
			kill[i] = float32(0.0622 - 0.0035*math.Abs(t-0.15) + 0.0012*(1-t))
			u[i] = 1
			if rng.Float64() < 0.03 {
				u[i], v[i] = 0.4, 0.35
			}
		}
	}
	// A seed must be larger than one cell to live.
	for range 420 {
		x, y := rng.IntN(w-4), rng.IntN(h-4)
		for dy := range 4 {
			for dx := range 4 {
				i := (y+dy)*w + x + dx
				u[i], v[i] = 0.5, 0.25+0.1*float32(rng.Float64())
			}
		}
	}
	v = grayScott(w, h, 4200, u, v, feed, kill)

	sample := func(p complex128) float64 {
		return cubic(v, w, h, (real(p)-margin)/cell-0.5, (imag(p)-margin)/cell-0.5)
	}
	skin := canvas.NewRamp(canvas.Hex(0xf1e2c4), canvas.Hex(0xe7c795), canvas.Hex(0xd9a066))
	mark := canvas.NewRamp(canvas.Hex(0x5a2d1c), canvas.Hex(0x3a2030), canvas.Hex(0x16303f))
	rim := canvas.Hex(0xb5602f)
	c.Clip(complex(margin, margin), complex(c.Width-margin, c.Height-margin))
	c.Shade(func(p complex128) canvas.Color {
		here := sample(p)
		slope := (sample(p+2) - sample(p-2)) + (sample(p+2i) - sample(p-2i))
		across := noise.At(p / 310)
		ground := skin.At(0.4 + across)
		ink := ground.Toward(rim, smooth(0.085, 0.125, here))
		ink = ink.Toward(mark.At(real(p)/c.Width+0.4*across), smooth(0.135, 0.165, here))
		if here > 0.2 {
			ink = ink.Toward(canvas.Hex(0xe9b872), 0.55*smooth(0.27, 0.33, here))
		}
		light := min(max(slope*0.9, -0.16), 0.16)
		if light > 0 {
			return ink.Toward(canvas.Hex(0x1b1008), light)
		}
		return ink.Toward(canvas.Hex(0xffffff), -light)
	})
}

// cubic reads a grid between its cells (Catmull–Rom), beyond its edge the nearest.
func cubic(grid []float32, w, h int, x, y float64) float64 {
	x0, y0 := math.Floor(x), math.Floor(y)
	wx, wy := catmullRom(x-x0), catmullRom(y-y0)
	sum := 0.0
	for j := range 4 {
		row := min(max(int(y0)+j-1, 0), h-1) * w
		line := 0.0
		for i := range 4 {
			line += wx[i] * float64(grid[row+min(max(int(x0)+i-1, 0), w-1)])
		}
		sum += wy[j] * line
	}
	return sum
}

func catmullRom(t float64) [4]float64 {
	return [4]float64{
		((2-t)*t - 1) * t / 2,
		(t*t*(3*t-5) + 2) / 2,
		((4-3*t)*t + 1) * t / 2,
		(t - 1) * t * t / 2,
	}
}

// smooth rises from 0 at a to 1 at b.
func smooth(a, b, x float64) float64 {
	t := min(max((x-a)/(b-a), 0), 1)
	return t * t * (3 - 2*t)
}
