package label

import (
	"encoding/binary"
	"image"
	"math"
	"slices"

	"gocv.io/x/gocv"
)

// Long sides in pixels of the pictures in which text is looked for: the first finds the small print of a label in the
// middle of a photo, the last the large letters of one that fills it.
var searchSides = []int{1280, 640, 320}

// region is a part of a photo that looks like text.
type region struct {
	box     image.Rectangle // in the photo
	letter  float64         // height of a letter in the photo's pixels
	upended bool            // the lines run from top to bottom
	tilt    float64         // of the lines, clockwise in degrees
	letters int             // that were seen
}

// findText returns the part of a grey photo that looks most like text, false where none does. It costs some
// milliseconds, and spares most photos of pictures the seconds of reading.
func findText(grey gocv.Mat) (region, bool) {
	var best region
	for _, side := range searchSides {
		by := math.Min(1, float64(side)/float64(max(grey.Cols(), grey.Rows())))
		small := gocv.NewMat()
		gocv.Resize(grey, &small, image.Point{}, by, by, gocv.InterpolationArea)
		page := tones{grey: small.ToBytes(), width: small.Cols(), height: small.Rows()}
		for _, lightInk := range []bool{false, true} {
			letters := findLetters(small, lightInk)
			for _, upended := range []bool{false, true} {
				rows := slices.DeleteFunc(chain(letters, upended), func(r row) bool { return !r.printed(&page, lightInk) })
				if r, ok := largestBlock(rows, image.Pt(small.Cols(), small.Rows()), upended); ok && r.letters > best.letters {
					r.box = grow(r.box, by).Intersect(image.Rect(0, 0, grey.Cols(), grey.Rows()))
					r.letter /= by
					best = r
				}
			}
		}
		small.Close()
	}
	return best, best.letters > 0
}

func grow(r image.Rectangle, by float64) image.Rectangle {
	f := func(v int) int { return int(math.Round(float64(v) / by)) }
	return image.Rect(f(r.Min.X), f(r.Min.Y), f(r.Max.X), f(r.Max.Y))
}

// Sizes of a letter in the searched picture.
const (
	minLetter  = 6   // height in pixels
	maxLetter  = 64  // the same
	maxWide    = 12  // width in heights: letters of a blurred word run together
	oneLetter  = 0.7 // width of a letter in heights, to count those; half of them, as much else is wide
	minFilled  = 0.18
	maxFilled  = 0.95
	maxGlyphs  = 4000
	inkStep    = 14 // levels by which ink differs from what is around it
	aroundSize = 31 // pixels of that
)

// glyph is something of the size and shape of a letter.
type glyph struct {
	box image.Rectangle // flipped, for a reader of upended lines
}

// findLetters returns the connected parts of a picture that are darker, or lighter, than what is around them and could
// be letters.
func findLetters(grey gocv.Mat, lightInk bool) []glyph {
	ink := gocv.NewMat()
	defer ink.Close()
	typ, step := gocv.ThresholdBinaryInv, float32(inkStep)
	if lightInk {
		typ, step = gocv.ThresholdBinary, -inkStep
	}
	gocv.AdaptiveThreshold(grey, &ink, 255, gocv.AdaptiveThresholdMean, typ, aroundSize, step)
	labels, stats, centres := gocv.NewMat(), gocv.NewMat(), gocv.NewMat()
	defer labels.Close()
	defer stats.Close()
	defer centres.Close()
	n := gocv.ConnectedComponentsWithStats(ink, &labels, &stats, &centres)
	table := stats.ToBytes() // rows of left, top, width, height and area, 32 bits each
	var found []glyph
	for i := 1; i < n && len(found) < maxGlyphs; i++ { // 0 is the ground
		at := func(column int) int { return int(int32(binary.NativeEndian.Uint32(table[(5*i+column)*4:]))) }
		x, y, w, h := at(0), at(1), at(2), at(3)
		long, short, filled := max(w, h), min(w, h), float64(at(4))/float64(w*h)
		if long < minLetter || short > maxLetter || long > maxWide*maxLetter || filled < minFilled || filled > maxFilled {
			continue
		}
		found = append(found, glyph{box: image.Rect(x, y, x+w, y+h)})
	}
	return found
}

// row is a chain of letters.
type row struct {
	glyphs  []glyph
	box     image.Rectangle
	letter  float64 // median height
	tilt    float64
	upended bool // its glyphs are flipped
}

// chain puts letters of like height that stand beside each other into rows, and keeps those that are straight.
func chain(letters []glyph, upended bool) []row {
	if upended {
		turned := make([]glyph, len(letters))
		for i, g := range letters {
			turned[i] = glyph{box: flip(g.box)}
		}
		letters = turned
	}
	var upright []glyph
	for _, g := range letters {
		if h := g.box.Dy(); h >= minLetter && h <= maxLetter && float64(g.box.Dx()) <= maxWide*float64(h) {
			upright = append(upright, g)
		}
	}
	slices.SortFunc(upright, func(a, b glyph) int { return a.box.Min.X - b.box.Min.X })
	next := make([]int, len(upright)) // the letter to the right, -1 for none
	taken := make([]bool, len(upright))
	for i, a := range upright {
		next[i] = -1
		for j := i + 1; j < len(upright); j++ {
			b := upright[j]
			distance := b.box.Min.X - a.box.Max.X
			tall := max(a.box.Dy(), b.box.Dy())
			if float64(distance) > 1.3*maxLetter {
				break
			}
			if taken[j] || float64(distance) > 1.3*float64(tall) || float64(distance) < -0.2*float64(tall) ||
				float64(tall) > 2.2*float64(min(a.box.Dy(), b.box.Dy())) {
				continue
			}
			overlap := min(a.box.Max.Y, b.box.Max.Y) - max(a.box.Min.Y, b.box.Min.Y)
			if float64(overlap) < 0.5*float64(min(a.box.Dy(), b.box.Dy())) {
				continue
			}
			next[i], taken[j] = j, true
			break
		}
	}
	var rows []row
	for i := range upright {
		if taken[i] {
			continue
		}
		r := row{upended: upended}
		for j := i; j >= 0; j = next[j] {
			r.glyphs = append(r.glyphs, upright[j])
			r.box = r.box.Union(upright[j].box)
		}
		if r.straight() {
			if upended {
				r.box = flip(r.box)
				r.tilt = -r.tilt
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func flip(r image.Rectangle) image.Rectangle {
	return image.Rect(r.Min.Y, r.Min.X, r.Max.Y, r.Max.X)
}

// letters is about how many letters the parts of a row are.
func (r *row) letters() int {
	n := 0
	for _, g := range r.glyphs {
		n += max(1, int(float64(g.box.Dx())/(oneLetter*float64(g.box.Dy()))/2))
	}
	return n
}

// minRow is the least number of letters that make a row: a number on a wall has three digits.
const minRow = 3

// maxTilt is how far rows may be off the level, in degrees.
const maxTilt = 20

// straight measures a row, and says whether its letters stand on one line, as print does and ornament seldom.
func (r *row) straight() bool {
	n := len(r.glyphs)
	if n < 2 || r.letters() < minRow {
		return false
	}
	heights := make([]float64, n)
	for i, g := range r.glyphs {
		heights[i] = float64(g.box.Dy())
	}
	r.letter = median(heights)
	// A line through the middles, by the median of slopes between letters far apart (Theil and Sen).
	var slopes []float64
	for i := range n {
		for j := i + max(1, n/3); j < n; j++ {
			a, b := middle(r.glyphs[i].box), middle(r.glyphs[j].box)
			if d := b[0] - a[0]; d > 0 {
				slopes = append(slopes, (b[1]-a[1])/d)
			}
		}
	}
	if len(slopes) == 0 {
		return false
	}
	slope := median(slopes)
	r.tilt = math.Atan(slope) * 180 / math.Pi
	offsets := make([]float64, n)
	for i, g := range r.glyphs {
		m := middle(g.box)
		offsets[i] = (m[1] - slope*m[0])
	}
	at := median(offsets)
	return math.Abs(r.tilt) <= maxTilt && deviation(offsets, at) <= 0.15*r.letter
}

// tones are the levels of a grey picture, 0 to 255.
type tones struct {
	grey          []byte
	width, height int
}

// levels are those of a part of the picture, sorted.
func (t *tones) levels(r image.Rectangle) []byte {
	r = r.Intersect(image.Rect(0, 0, t.width, t.height))
	var out []byte
	for y := r.Min.Y; y < r.Max.Y; y++ {
		out = append(out, t.grey[y*t.width+r.Min.X:y*t.width+r.Max.X]...)
	}
	slices.Sort(out)
	return out
}

// Print has one ink on one plain ground.
const (
	minContrast = 30   // levels between ink and ground
	inkSpread   = 0.25 // of the contrast: how much the ink of a row may vary (median absolute deviation)
	groundNear  = 0.25 // of the contrast: how far the ground between letters may be off
	groundPlain = 0.75 // of the pixels between letters are ground
)

// printed says whether the letters of a row have the same ink and stand on a plain ground.
func (r *row) printed(t *tones, lightInk bool) bool {
	var inks, grounds []float64
	boxes := make([]image.Rectangle, len(r.glyphs))
	for i, g := range r.glyphs {
		boxes[i] = g.box
		if r.upended {
			boxes[i] = flip(g.box)
		}
		levels := t.levels(boxes[i].Inset(-1))
		dark, light := float64(levels[len(levels)/8]), float64(levels[len(levels)-1-len(levels)/8])
		if lightInk {
			dark, light = light, dark
		}
		inks, grounds = append(inks, dark), append(grounds, light)
	}
	ink, ground := median(inks), median(grounds)
	contrast := math.Abs(ground - ink)
	if contrast < minContrast || deviation(inks, ink) > inkSpread*contrast {
		return false
	}
	plain, all := 0, 0
	for i := range boxes[:len(boxes)-1] {
		here := (grounds[i] + grounds[i+1]) / 2
		for _, v := range t.levels(between(boxes[i], boxes[i+1], r.upended)) {
			all++
			if math.Abs(float64(v)-here) <= groundNear*contrast {
				plain++
			}
		}
	}
	return all > 0 && float64(plain) >= groundPlain*float64(all)
}

// between is the gap from one letter to the next, as high as both.
func between(a, b image.Rectangle, upended bool) image.Rectangle {
	if upended {
		a, b = flip(a), flip(b)
	}
	gap := image.Rect(a.Max.X, min(a.Min.Y, b.Min.Y), max(a.Max.X+1, b.Min.X), max(a.Max.Y, b.Max.Y))
	if upended {
		return flip(gap)
	}
	return gap
}

func deviation(v []float64, from float64) float64 {
	off := make([]float64, len(v))
	for i, x := range v {
		off[i] = math.Abs(x - from)
	}
	return median(off)
}

func middle(r image.Rectangle) [2]float64 {
	return [2]float64{float64(r.Min.X+r.Max.X) / 2, float64(r.Min.Y+r.Max.Y) / 2}
}

// largestBlock joins rows that stand together, and returns the block with the most letters.
func largestBlock(rows []row, size image.Point, upended bool) (region, bool) {
	block := make([]int, len(rows)) // number of the row that stands for the block
	for i := range block {
		block[i] = i
	}
	find := func(i int) int {
		for block[i] != i {
			block[i] = block[block[i]]
			i = block[i]
		}
		return i
	}
	for i, a := range rows {
		for j, b := range rows[:i] {
			near := int(2.2 * math.Max(a.letter, b.letter))
			if math.Max(a.letter, b.letter) <= 3*math.Min(a.letter, b.letter) && a.box.Inset(-near).Overlaps(b.box) {
				block[find(i)] = find(j)
			}
		}
	}
	blocks := map[int][]row{}
	for i, r := range rows {
		blocks[find(i)] = append(blocks[find(i)], r)
	}
	best := region{upended: upended}
	for _, members := range blocks {
		r := region{upended: upended}
		var heights, tilts []float64
		for _, m := range members {
			r.box = r.box.Union(m.box)
			for range m.letters() { // so that long rows count for more
				heights, tilts = append(heights, m.letter), append(tilts, m.tilt)
			}
		}
		r.letters = len(heights)
		if r.letters <= best.letters {
			continue
		}
		r.letter, r.tilt = median(heights), median(tilts)
		r.box = r.box.Inset(-int(math.Round(roomAround * slices.Max(heights))))
		best = r
	}
	big := best.letter >= bigLetter*float64(min(size.X, size.Y))
	return best, best.letters >= minLetters || big && best.letters >= minRow
}

// minLetters is the least number of letters that make a text worth reading. Of 188 visitors' photos of pictures without
// a label in sight 11 have so many things that look like letters in rows, and labels have more than thirty. Fewer do where
// they fill a good part of the photo, such as a number alone.
const (
	minLetters = 10
	bigLetter  = 1.0 / 8 // of the photo's short side
)

// roomAround is how much room a block gets on each side for letters that were not seen, in heights of its largest.
const roomAround = 4

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
