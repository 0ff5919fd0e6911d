package draw

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"sort"

	"docent/localindex/sample/draw/internal/canvas"
)

// voronoi returns the cell of each site within the frame: the places nearer to it than to any other site.
func voronoi(sites []complex128, frame []complex128) [][]complex128 {
	cells := make([][]complex128, len(sites))
	order := make([]int, len(sites))
	for i, s := range sites {
		for j := range order {
			order[j] = j
		}
		sort.Slice(order, func(a, b int) bool { return abs2(sites[order[a]]-s) < abs2(sites[order[b]]-s) })
		cell := frame
		for _, j := range order[1:] {
			reach := 0.0
			for _, p := range cell {
				reach = max(reach, cmplx.Abs(p-s))
			}
			if cmplx.Abs(sites[j]-s) > 2*reach {
				break // no farther site can cut the cell
			}
			cell = canvas.Cut(cell, (s+sites[j])/2, s-sites[j])
			if len(cell) < 3 {
				break
			}
		}
		cells[i] = cell
	}
	return cells
}

// scatter draws n places in the frame, the more the larger density (0…1) is there.
func scatter(rng *rand.Rand, n int, a, b complex128, density func(complex128) float64) []complex128 {
	var out []complex128
	for len(out) < n {
		p := a + complex(rng.Float64()*real(b-a), rng.Float64()*imag(b-a))
		if rng.Float64() < density(p) {
			out = append(out, p)
		}
	}
	return out
}

// voronoiCells is a Voronoi diagram, once relaxed (each site moved to the middle of its cell) and dense along a river.
func voronoiCells(c *canvas.Canvas) {
	rng := seeded(105)
	noise := canvas.NewNoise(rng)
	a, b := complex(92, 92), complex(c.Width-92, c.Height-92)
	river := func(p complex128) float64 { // distance from the river's course
		x := real(p) / c.Width
		course := c.Height * (0.30 + 0.38*x + 0.10*math.Sin(x*7.5+0.4))
		return math.Abs(imag(p) - course)
	}
	density := func(p complex128) float64 {
		return min(1, 0.045+0.95*math.Exp(-river(p)*river(p)/(2*95*95))+0.05*noise.At(p/200))
	}
	sites := scatter(rng, 640, a, b, density)
	frame := canvas.Rect(a, b)
	for range 2 {
		for i, cell := range voronoi(sites, frame) {
			sites[i] = canvas.Centroid(cell)
		}
	}

	c.Clip(a, b)
	c.Shade(func(complex128) canvas.Color { return canvas.Hex(0x22302f) })
	land := canvas.NewRamp(canvas.Hex(0x3e5c45), canvas.Hex(0x7d8f52), canvas.Hex(0xc9b35f), canvas.Hex(0xe9dbab))
	water := canvas.NewRamp(canvas.Hex(0xeaf2e4), canvas.Hex(0x9ccbc6), canvas.Hex(0x3f8da3))
	for i, cell := range voronoi(sites, frame) {
		size := math.Sqrt(math.Abs(canvas.Area(cell)))
		gap := 1.6 + size*0.022
		d := river(sites[i])
		ink := land.At(0.15 + d/640 + 0.55*noise.At(sites[i]/240) + rng.NormFloat64()*0.07)
		if d < 78 {
			ink = water.At(0.1 + d/90 + rng.NormFloat64()*0.18)
		} else if rng.Float64() < 0.035 {
			ink = canvas.Hex(0xb5452e)
		}
		body := canvas.Inset(cell, gap)
		if body == nil {
			continue
		}
		c.Fill(ink, canvas.Round(body, 0.34, 6))
		if size < 46 {
			if rng.IntN(3) == 0 {
				c.Disc(canvas.Hex(0x22302f), canvas.Centroid(body), size*0.10)
			}
			continue
		}
		// Large cells show the distance to their border as contour lines, and their site.
		step := 6 + size*0.035
		for k := 1; k < 9; k++ {
			ring := canvas.Inset(cell, gap+step*float64(k))
			if ring == nil || math.Abs(canvas.Area(ring)) < 160 {
				break
			}
			shade := canvas.Mix(ink, canvas.Hex(0x22302f), 0.36)
			if k%2 == 0 {
				shade = canvas.Mix(ink, canvas.Hex(0xfff8e2), 0.45)
			}
			c.StrokeClosed(shade, 1.6+float64(rng.IntN(3)), canvas.Round(ring, 0.34, 5)...)
		}
		c.Disc(canvas.Hex(0x22302f), sites[i], 4.5)
	}
}
