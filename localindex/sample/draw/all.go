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
	}
}
