type Point = readonly [number, number]

const off = 0.35 // metres that a way keeps from a corner that it goes round

/**
 * The corners that the shortest way from one place of a hall to another goes round, so that it crosses no wall; none where
 * the straight line stays inside, or the hall has no outline. Corners are taken a little into the hall.
 */
export function roundCorners(outline: readonly Point[], from: Point, to: Point): Point[] {
  if (outline.length < 4 || clear(outline, from, to)) return []
  const points = [from, ...inwardCorners(outline), to]
  // Shortest ways from the first point (Dijkstra); halls have few corners.
  const cost = points.map((_, i) => (i === 0 ? 0 : Infinity))
  const before = points.map(() => 0)
  const open = new Set(points.keys())
  while (open.size > 0) {
    const here = [...open].reduce((a, b) => (cost[a]! <= cost[b]! ? a : b))
    open.delete(here)
    if (cost[here] === Infinity) return [] // an outline that crosses itself, perhaps
    if (here === points.length - 1) break
    for (const next of open) {
      const length = cost[here]! + Math.hypot(points[next]![0] - points[here]![0], points[next]![1] - points[here]![1])
      if (length < cost[next]! && clear(outline, points[here]!, points[next]!)) {
        cost[next] = length
        before[next] = here
      }
    }
  }
  const way: Point[] = []
  for (let at = before[points.length - 1]!; at !== 0; at = before[at]!) way.unshift(points[at]!)
  return way
}

/** The corners that stick into the hall, moved a little away from their walls. */
function inwardCorners(outline: readonly Point[]): Point[] {
  const turn = Math.sign(outline.reduce((sum, [x1, y1], i) => sum + x1 * next(outline, i)[1] - next(outline, i)[0] * y1, 0))
  return outline.flatMap((corner, i): Point[] => {
    const [a, b] = [unit(corner, outline.at(i - 1)!), unit(corner, next(outline, i))]
    if ((a[0] * b[1] - a[1] * b[0]) * turn <= 1e-9) return []
    const [x, y] = [-(a[0] + b[0]), -(a[1] + b[1])]
    const length = Math.hypot(x, y)
    return length < 1e-9 ? [] : [[corner[0] + (x / length) * off, corner[1] + (y / length) * off]]
  })
}

/** Whether a straight line stays within the walls. It may touch them, as it does in a door. */
function clear(outline: readonly Point[], from: Point, to: Point): boolean {
  const crosses = outline.some((corner, i) => {
    const end = next(outline, i)
    return side(from, to, corner) * side(from, to, end) < -1e-9 && side(corner, end, from) * side(corner, end, to) < -1e-9
  })
  return !crosses && [0.25, 0.5, 0.75].every((part) => inside(outline, [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part]))
}

function inside(outline: readonly Point[], [x, y]: Point): boolean {
  let within = false
  for (const [i, [x1, y1]] of outline.entries()) {
    const [x2, y2] = next(outline, i)
    const length = Math.hypot(x2 - x1, y2 - y1)
    const along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / (length * length)
    if (length > 0 && along >= 0 && along <= 1 && Math.abs(side([x1, y1], [x2, y2], [x, y])) / length < 0.01) return true // on the wall
    if (y1 > y !== y2 > y && x < x1 + ((y - y1) / (y2 - y1)) * (x2 - x1)) within = !within
  }
  return within
}

function next(outline: readonly Point[], i: number): Point {
  return outline[(i + 1) % outline.length]!
}

/** On which side of a line a point is: above 0 to its left. */
function side([x1, y1]: Point, [x2, y2]: Point, [x, y]: Point): number {
  return (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1)
}

function unit([x1, y1]: Point, [x2, y2]: Point): Point {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1
  return [(x2 - x1) / length, (y2 - y1) / length]
}
