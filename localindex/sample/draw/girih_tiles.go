package draw

import (
	"math"
	"math/rand/v2"
	"sort"

	"docent/localindex/sample/draw/internal/canvas"
)

// The five girih tiles have sides of equal length and corners that are multiples of 36°. Each is given by its corners
// in those steps, anticlockwise.
var girihCorners = map[string][]int{
	"decagon":  {4, 4, 4, 4, 4, 4, 4, 4, 4, 4},
	"hexagon":  {2, 4, 4, 2, 4, 4},
	"bowtie":   {2, 2, 6, 2, 2, 6},
	"pentagon": {3, 3, 3, 3, 3},
	"rhombus":  {2, 3, 2, 3},
}

// girihTile is a placed tile; side i runs from corner i to corner i+1.
type girihTile struct {
	name string
	ring []complex128
}

// girihKey names a corner of the patch. Corners are sums of unit vectors, so distinct ones are well apart.
type girihKey [2]int

func keyOf(p complex128) girihKey {
	return girihKey{int(math.Round(real(p) * 100)), int(math.Round(imag(p) * 100))}
}

// girihPatch is a growing patch of tiles with sides of length 1.
type girihPatch struct {
	tiles   []girihTile
	used    map[girihKey]int              // steps of 36° taken around a corner
	at      map[girihKey]complex128       // where a corner is
	open    map[[2]girihKey][2]complex128 // sides with a tile on one side only, as that tile runs them
	inside  func(complex128) bool
	rng     *rand.Rand
	retries int
}

// growGirih fills the region with tiles around a decagon at the origin, backtracking out of dead ends. It returns nil
// when the number of tries is used up.
func growGirih(rng *rand.Rand, inside func(complex128) bool, retries int) []girihTile {
	p := &girihPatch{
		used: map[girihKey]int{}, at: map[girihKey]complex128{}, open: map[[2]girihKey][2]complex128{},
		inside: inside, rng: rng, retries: retries,
	}
	start := complex(-0.5, -math.Sqrt(5+2*math.Sqrt(5))/2)
	p.put("decagon", 0, start, start+1)
	if !p.grow() {
		return nil
	}
	return p.tiles
}

// grow completes the open corner nearest to the origin, then the rest.
func (p *girihPatch) grow() bool {
	side, ok := p.next()
	if !ok {
		return true
	}
	// The new tile runs the open side backwards.
	from, to := side[1], side[0]
	for _, choice := range p.choices() {
		if p.retries--; p.retries < 0 {
			return false
		}
		if !p.fits(choice.name, choice.corner, from, to) {
			continue
		}
		undo := p.put(choice.name, choice.corner, from, to)
		if p.grow() {
			return true
		}
		undo()
	}
	return false
}

// next is the open side nearest to the origin that reaches into the region, and among those of one corner a fixed one.
func (p *girihPatch) next() (side [2]complex128, ok bool) {
	best := math.Inf(1)
	for _, s := range p.open {
		if !p.inside(s[0]) && !p.inside(s[1]) {
			continue
		}
		near, far := s[0], s[1]
		if abs2(near) > abs2(far) {
			near, far = far, near
		}
		// Corners with little room left come first: they decide soonest whether the patch is dead.
		room := float64(10 - p.used[keyOf(near)])
		rank := math.Sqrt(abs2(near)) + 0.18*room + 1e-3*math.Sqrt(abs2(far)) + 1e-5*math.Atan2(imag(far), real(far)) + 1e-5*math.Atan2(imag(near), real(near))
		if rank < best {
			best, side, ok = rank, s, true
		}
	}
	return side, ok
}

type girihChoice struct {
	name   string
	corner int
	rank   float64
}

// choices lists every tile in every turn, the grander tiles mostly first.
func (p *girihPatch) choices() []girihChoice {
	weight := map[string]float64{"decagon": 0, "hexagon": 1.1, "bowtie": 1.0, "pentagon": 1.25, "rhombus": 1.9}
	var out []girihChoice
	for _, name := range []string{"decagon", "hexagon", "bowtie", "pentagon", "rhombus"} {
		n := len(girihCorners[name])
		turns := map[string]int{"decagon": 1, "pentagon": 1, "rhombus": 2, "hexagon": 3, "bowtie": 3}[name]
		for corner := range min(n, turns) {
			out = append(out, girihChoice{name, corner, weight[name] + p.rng.Float64()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].rank < out[j].rank })
	return out
}

// place returns the ring of a tile whose side corner runs from a to b.
func placeGirih(name string, corner int, a, b complex128) []complex128 {
	corners := girihCorners[name]
	ring := make([]complex128, len(corners))
	at, step := a, b-a
	for k := range corners {
		i := (corner + k) % len(corners)
		ring[i] = at
		at += step
		turn := 5 - corners[(i+1)%len(corners)] // outer angle at the next corner
		step *= canvas.Polar(1, float64(turn)*math.Pi/5)
	}
	return ring
}

func (p *girihPatch) fits(name string, corner int, a, b complex128) bool {
	ring, corners := placeGirih(name, corner, a, b), girihCorners[name]
	for i, q := range ring {
		room := 10 - p.used[keyOf(q)] - corners[i]
		if room < 0 || room == 1 {
			return false
		}
		// A side may not run along an open side in the same direction.
		next := ring[(i+1)%len(ring)]
		if _, taken := p.open[[2]girihKey{keyOf(q), keyOf(next)}]; taken {
			return false
		}
	}
	middle := mean(ring)
	for _, t := range p.tiles {
		if abs2(mean(t.ring)-middle) < 14 && overlap(ring, t.ring) {
			return false
		}
	}
	return true
}

// put adds a tile and returns how to take it away again.
func (p *girihPatch) put(name string, corner int, a, b complex128) (undo func()) {
	ring, corners := placeGirih(name, corner, a, b), girihCorners[name]
	p.tiles = append(p.tiles, girihTile{name, ring})
	var closed, opened [][2]complex128
	for i, q := range ring {
		p.used[keyOf(q)] += corners[i]
		next := ring[(i+1)%len(ring)]
		back := [2]girihKey{keyOf(next), keyOf(q)}
		if s, ok := p.open[back]; ok {
			closed = append(closed, s)
			delete(p.open, back)
		} else {
			opened = append(opened, [2]complex128{q, next})
			p.open[[2]girihKey{keyOf(q), keyOf(next)}] = [2]complex128{q, next}
		}
	}
	return func() {
		p.tiles = p.tiles[:len(p.tiles)-1]
		for i, q := range ring {
			p.used[keyOf(q)] -= corners[i]
		}
		for _, s := range opened {
			delete(p.open, [2]girihKey{keyOf(s[0]), keyOf(s[1])})
		}
		for _, s := range closed {
			p.open[[2]girihKey{keyOf(s[0]), keyOf(s[1])}] = s
		}
	}
}

func abs2(p complex128) float64 { return real(p)*real(p) + imag(p)*imag(p) }

func mean(ring []complex128) complex128 {
	var sum complex128
	for _, p := range ring {
		sum += p
	}
	return sum / complex(float64(len(ring)), 0)
}

// overlap reports whether two tiles share more than corners and sides: a side of one properly crosses a side of the
// other, or a point just inside a corner or side of one lies in the other.
func overlap(a, b []complex128) bool {
	for i, p := range a {
		q := a[(i+1)%len(a)]
		for j, r := range b {
			s := b[(j+1)%len(b)]
			const slack = 1e-6
			if canvas.Cross(q-p, r-p)*canvas.Cross(q-p, s-p) < -slack && canvas.Cross(s-r, p-r)*canvas.Cross(s-r, q-r) < -slack {
				return true
			}
		}
	}
	return reachesInto(a, b) || reachesInto(b, a)
}

func reachesInto(a, b []complex128) bool {
	for i, p := range a {
		q := a[(i+1)%len(a)]
		inward := (q - p) * complex(0, 0.02) // the interior lies to the left of an anticlockwise side
		if holds(b, (p+q)/2+inward) {
			return true
		}
	}
	return holds(b, mean(a))
}

// holds reports whether a ring has p inside (even–odd rule).
func holds(ring []complex128, p complex128) bool {
	in := false
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		if (imag(a) > imag(p)) != (imag(b) > imag(p)) &&
			real(p) < real(a)+(imag(p)-imag(a))/(imag(b)-imag(a))*(real(b)-real(a)) {
			in = !in
		}
	}
	return in
}
