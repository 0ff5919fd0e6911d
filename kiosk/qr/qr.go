// Package qr draws QR codes as SVG. In: a text. Out: a drawing of dark squares on white, with the quiet zone that
// ISO/IEC 18004 asks for.
package qr

import (
	"errors"
	"fmt"
	"strings"

	"rsc.io/qr"
)

// MaxText is the most text that is drawn, in bytes: a version 13 code of 69 squares a side at level M, which a phone reads
// from a screen at arm's length.
const MaxText = 331

// ErrTooLong says that a text does not fit.
var ErrTooLong = errors.New("the text is too long for a QR code")

const quiet = 4 // modules of white around the code

// SVG draws a text at error correction level M (15 %), which a screen with a reflection needs.
func SVG(text string) (string, error) {
	if len(text) > MaxText {
		return "", ErrTooLong
	}
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return "", fmt.Errorf("encode QR code: %w", err)
	}
	side := code.Size + 2*quiet
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%dv%dH0z"/><path d="%s"/></svg>`, side, side, side, side, path.String()), nil
}
