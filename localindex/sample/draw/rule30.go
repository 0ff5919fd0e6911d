package draw

import (
	"math"

	"docent/localindex/sample/draw/internal/canvas"
)

// rule30Rows runs Wolfram's elementary rule 30 (a cell is set when exactly its left neighbour is, or when its left one
// is not and it or its right one is) from a single cell at column start.
func rule30Rows(columns, rows, start int) [][]bool {
	// Wide enough that nothing comes back from the sides.
	pad := rows + 2
	row := make([]bool, columns+2*pad)
	row[start+pad] = true
	out := make([][]bool, rows)
	for y := range out {
		out[y] = row[pad : pad+columns]
		next := make([]bool, len(row))
		for x := 1; x+1 < len(row); x++ {
			next[x] = row[x-1] != (row[x] || row[x+1])
		}
		row = next
	}
	return out
}

// rule30 shows 118 rows of the automaton. The empty triangles are coloured by their size.
func rule30(c *canvas.Canvas) {
	rng := seeded(303)
	noise := canvas.NewNoise(rng)
	const cell = 9.0
	const columns, rows = 158, 114
	corner := complex((c.Width-columns*cell)/2, (c.Height-rows*cell)/2)
	grid := rule30Rows(columns, rows, 92)

	// Empty regions: cells joined side by side, reached by a flood from each.
	region := make([][]int, rows)
	for y := range region {
		region[y] = make([]int, columns)
	}
	size := []int{0}
	for y := range rows {
		for x := range columns {
			if grid[y][x] || region[y][x] != 0 {
				continue
			}
			id := len(size)
			size = append(size, 0)
			region[y][x] = id
			stack := [][2]int{{x, y}}
			for len(stack) > 0 {
				at := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				size[id]++
				for _, d := range [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
					nx, ny := at[0]+d[0], at[1]+d[1]
					if nx >= 0 && ny >= 0 && nx < columns && ny < rows && !grid[ny][nx] && region[ny][nx] == 0 {
						region[ny][nx] = id
						stack = append(stack, [2]int{nx, ny})
					}
				}
			}
		}
	}

	inks := canvas.NewRamp(canvas.Hex(0x33211c), canvas.Hex(0x5b2f22), canvas.Hex(0x2b2a33), canvas.Hex(0x1d2f3a))
	small, large := canvas.Hex(0xf4e7d0), canvas.NewRamp(canvas.Hex(0xefd9b4), canvas.Hex(0xe8b675), canvas.Hex(0xd98048), canvas.Hex(0xb9492f), canvas.Hex(0x8a2d2b))
	square := func(x, y int, grow float64) []complex128 {
		p := corner + complex(float64(x)*cell, float64(y)*cell)
		return canvas.Rect(p-complex(grow, grow), p+complex(cell+grow, cell+grow))
	}
	for y := range rows {
		for x := range columns {
			p := corner + complex(float64(x)*cell, float64(y)*cell)
			if grid[y][x] {
				c.Fill(inks.At(0.5+0.8*noise.At(p/330)+0.25*(real(p)/c.Width-0.5)), square(x, y, 0.1))
				continue
			}
			n := size[region[y][x]]
			switch {
			case n > 1500: // the empty field the pattern grows into
			case n < 5:
				c.Fill(small, square(x, y, 0.1))
			default:
				c.Fill(large.At(math.Log(float64(n)/5)/math.Log(22)), square(x, y, 0.1))
			}
		}
	}
}
