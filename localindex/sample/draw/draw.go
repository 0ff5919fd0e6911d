// Package draw draws the pictures of the sample gallery, the Gallery of Patterns: 24 prints of well-known
// mathematics, each a pure function. The same build draws the same pixels each time; processors that fuse
// multiplication and addition may differ in the last digits of chaotic works.
//
// The sheets are made to be told apart by local features: scale, line weight and colour change across each of them,
// and no field repeats exactly.
package draw

import (
	"image"
	"math/rand/v2"

	"docent/localindex/sample/draw/internal/canvas"
)

// Drawing is one work.
type Drawing struct {
	// ID is the exhibit's id.
	ID string
	// Width and Height are the size in pixels at scale 1.
	Width, Height int

	paper canvas.Color
	paint func(*canvas.Canvas)
}

// Draw draws the work at its full size.
func (d Drawing) Draw() image.Image { return d.DrawAt(1) }

// DrawAt draws the work with scale pixels (> 0) for each pixel of its full size.
func (d Drawing) DrawAt(scale float64) image.Image {
	c := canvas.New(float64(d.Width), float64(d.Height), scale, d.paper)
	d.paint(c)
	return c.Image()
}

// seeded returns the random numbers of one work.
func seeded(label uint64) *rand.Rand { return rand.New(rand.NewPCG(label, 0x646f63656e74)) }
