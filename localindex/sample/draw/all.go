package draw

import "docent/localindex/sample/draw/internal/canvas"

// All lists the works in the order of their labels: 101–106 tilings, 201–206 curves, 301–306 growth, 401–406 waves
// and fields.
func All() []Drawing {
	return []Drawing{
		{"penrose-tiling", 1400, 1400, canvas.Hex(0xf4efe4), penroseTiling},
		{"girih-star", 1500, 1200, canvas.Hex(0xf5f0e6), girihStar},
		{"ice-crack-lattice", 1200, 1500, canvas.Hex(0xf3eee2), iceCrackLattice},
		{"truchet-tiles", 1600, 1200, canvas.Hex(0xf5f0e4), truchetTiles},
		{"voronoi-cells", 1400, 1200, canvas.Hex(0xf2efe6), voronoiCells},
		{"pinwheel-tiling", 1600, 1200, canvas.Hex(0xf3eeea), pinwheelTiling},
		{"hilbert-curve", 1200, 1400, canvas.Hex(0xf6f2e9), hilbertCurve},
		{"harmonograph", 1500, 1200, canvas.Hex(0xf7f4ec), harmonograph},
		{"dragon-curve", 1500, 1200, canvas.Hex(0xf6f1e6), dragonCurve},
		{"spirograph", 1200, 1500, canvas.Hex(0xf8f5ee), spirograph},
		{"maurer-rose", 1200, 1500, canvas.Hex(0xefe8e2), maurerRose},
		{"apollonian-gasket", 1400, 1400, canvas.Hex(0xf1ece0), apollonianGasket},
		{"phyllotaxis", 1300, 1300, canvas.Hex(0xf3efe2), phyllotaxis},
		{"barnsley-fern", 1200, 1600, canvas.Hex(0xf6f2e8), barnsleyFern},
		{"rule-30", 1600, 1200, canvas.Hex(0xf7f1e5), rule30},
		{"diffusion-limited-aggregation", 1300, 1300, canvas.Hex(0xf4f2ec), diffusionLimitedAggregation},
		{"turing-pattern", 1400, 1200, canvas.Hex(0xf5f0e6), turingPattern},
		{"pythagoras-tree", 1500, 1200, canvas.Hex(0xf4efe6), pythagorasTree},
		{"chladni-figures", 1500, 1200, canvas.Hex(0xe9dfc9), chladniFigures},
		{"flow-field", 1200, 1500, canvas.Hex(0xf2ecdf), flowField},
		{"moire-rings", 1300, 1300, canvas.Hex(0xefe9db), moireRings},
		{"mandelbrot-set", 1600, 1200, canvas.Hex(0xf3eee3), mandelbrotSet},
		{"lorenz-attractor", 1500, 1200, canvas.Hex(0xefebe2), lorenzAttractor},
		{"newton-basins", 1300, 1300, canvas.Hex(0xf4f0e6), newtonBasins},
	}
}
