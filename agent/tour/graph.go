package tour

import (
	"container/heap"
	"math"

	"docent/localindex/gallery"
)

// Walking. A visitor strolls at about 0.8 m/s between pictures; pedestrians on streets make 1.2 to 1.4. The way within
// a hall is taken to be 1.25 times the straight line, around people and benches.
const (
	metresPerSecond = 0.8
	detour          = 1.25
	floorSeconds    = 45.0 // further, for a door between two floors
)

// spot is a place on the plan.
type spot struct {
	hall string
	at   gallery.Point
}

// graph joins halls by their doors.
type graph struct {
	doors  []door
	byHall map[string][]int
	floor  map[string]int
}

type door struct {
	at    gallery.Point
	halls [2]string
}

// newGraph takes only doors without steps where stepFree is set.
func newGraph(halls []gallery.Hall, stepFree bool) *graph {
	g := &graph{byHall: make(map[string][]int), floor: make(map[string]int)}
	for _, h := range halls {
		g.floor[h.ID] = h.Floor
		for _, d := range h.Doors {
			if stepFree && !d.StepFree {
				continue
			}
			n := len(g.doors)
			g.doors = append(g.doors, door{d.At, [2]string{h.ID, d.To}})
			g.byHall[h.ID] = append(g.byHall[h.ID], n)
			g.byHall[d.To] = append(g.byHall[d.To], n)
		}
	}
	return g
}

func walkSeconds(a, b gallery.Point) float64 {
	return math.Hypot(a[0]-b[0], a[1]-b[1]) * detour / metresPerSecond
}

// seconds returns the walking time from one spot to each of the others, +Inf where there is no way.
func (g *graph) seconds(from spot, to []spot) []float64 {
	toDoor, _ := g.doorsFrom(from)
	out := make([]float64, len(to))
	for i, t := range to {
		out[i] = math.Inf(1)
		if t.hall == from.hall {
			out[i] = walkSeconds(from.at, t.at)
		}
		for _, d := range g.byHall[t.hall] {
			out[i] = min(out[i], toDoor[d]+walkSeconds(g.doors[d].at, t.at))
		}
	}
	return out
}

// step is how a door is reached: through a hall, from the door before it; -1 where the way begins in that hall.
type step struct {
	hall string
	door int
}

// doorsFrom is Dijkstra's algorithm over the doors: the walking time to each, +Inf where there is no way, and its last
// step.
func (g *graph) doorsFrom(from spot) (best []float64, before []step) {
	best, before = make([]float64, len(g.doors)), make([]step, len(g.doors))
	for i := range best {
		best[i] = math.Inf(1)
	}
	q := &queue{}
	reach := func(d int, seconds float64, by step) {
		halls := g.doors[d].halls
		if g.floor[halls[0]] != g.floor[halls[1]] {
			seconds += floorSeconds
		}
		if seconds < best[d] {
			best[d], before[d] = seconds, by
			heap.Push(q, reached{d, seconds})
		}
	}
	for _, d := range g.byHall[from.hall] {
		reach(d, walkSeconds(from.at, g.doors[d].at), step{from.hall, -1})
	}
	for q.Len() > 0 {
		r := heap.Pop(q).(reached)
		if r.seconds > best[r.door] {
			continue
		}
		for _, hall := range g.doors[r.door].halls {
			for _, next := range g.byHall[hall] {
				if next != r.door {
					reach(next, r.seconds+walkSeconds(g.doors[r.door].at, g.doors[next].at), step{hall, r.door})
				}
			}
		}
	}
	return best, before
}

type reached struct {
	door    int
	seconds float64
}

type queue []reached

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].seconds < q[j].seconds }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(reached)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
