import type { Hall } from '../api/contract'
import { roundCorners } from './walls'

type Point = readonly [number, number]

/** A floor of the house as it is drawn: y grows downwards, and all of it lies within the box. */
export interface FloorPlan {
  box: { x: number; y: number; width: number; height: number }
  halls: { id: string; path: string; middle: Point; height: number }[]
  doors: { from: Point; to: Point; stepFree: boolean }[]
}

const margin = 0.6 // metres around the walls
const doorWidth = 1.4

export function floorsOf(halls: readonly Hall[]): number[] {
  return [...new Set(halls.filter((hall) => (hall.outline?.length ?? 0) >= 3).map((hall) => hall.floor))].sort((a, b) => a - b)
}

/** The floor that a hall is on. */
export function floorOf(halls: readonly Hall[], hall: string | undefined): number | undefined {
  return halls.find((h) => h.id === hall)?.floor
}

/** Draws the halls of one floor; null where it has no outlines. Metres upwards become metres downwards. */
export function planOf(halls: readonly Hall[], floor: number): FloorPlan | null {
  const drawn = halls.filter((hall) => hall.floor === floor && (hall.outline?.length ?? 0) >= 3)
  const corners = drawn.flatMap((hall) => hall.outline!)
  if (corners.length === 0) return null
  const [left, right] = extent(corners.map(([x]) => x))
  const [low, high] = extent(corners.map(([, y]) => y))
  return {
    box: { x: left - margin, y: -high - margin, width: right - left + 2 * margin, height: high - low + 2 * margin },
    halls: drawn.map((hall) => ({ id: hall.id, path: `M${hall.outline!.map(([x, y]) => `${x} ${-y}`).join('L')}Z`, middle: flip(centre(hall.outline!)), height: span(hall.outline!) })),
    doors: drawn.flatMap((hall) =>
      (hall.doors ?? []).map((door) => {
        const along = wallAt(hall.outline!, door.at)
        const half = doorWidth / 2
        return {
          from: flip([door.at[0] - along[0] * half, door.at[1] - along[1] * half]),
          to: flip([door.at[0] + along[0] * half, door.at[1] + along[1] * half]),
          stepFree: door.step_free,
        }
      }),
    ),
  }
}

/** Where a place of the house is within the drawing, as fractions of its width and height. */
export function within(plan: FloorPlan, [x, y]: Point): Point {
  return [(x - plan.box.x) / plan.box.width, (-y - plan.box.y) / plan.box.height]
}

/** A place in a hall. */
export interface Spot {
  hall: string
  at: Point
}

/**
 * The way from one place to another through the doors, the shortest by straight lines from door to door (Dijkstra over the
 * doors), round the corners of the halls; straight where no doors lead there. Only doors without steps, where those are asked
 * for and lead there.
 */
export function wayBetween(halls: readonly Hall[], from: Spot, to: Spot, stepFree: boolean): Spot[] {
  const way = throughDoors(halls, from, to, stepFree)
  return way.flatMap((spot, i) => {
    const before = way[i - 1]
    // A door is named with the hall that it is reached from, so each part of the way is in the hall of its end.
    const outline = halls.find((hall) => hall.id === spot.hall)?.outline ?? []
    return before ? [...roundCorners(outline, before.at, spot.at).map((at) => ({ hall: spot.hall, at })), spot] : [spot]
  })
}

function throughDoors(halls: readonly Hall[], from: Spot, to: Spot, stepFree: boolean): Spot[] {
  if (from.hall === to.hall) return [from, to]
  const doors = halls.flatMap((hall) => (hall.doors ?? []).filter((door) => !stepFree || door.step_free).map((door) => ({ halls: [hall.id, door.to], at: door.at })))
  const best = new Map<number, { cost: number; before: number | null }>()
  const open = new Set<number>()
  const reach = (i: number, cost: number, before: number | null) => {
    if (cost >= (best.get(i)?.cost ?? Infinity)) return
    best.set(i, { cost, before })
    open.add(i)
  }
  doors.forEach((door, i) => door.halls.includes(from.hall) && reach(i, distance(from.at, door.at), null))
  while (open.size > 0) {
    const here = [...open].reduce((a, b) => (best.get(a)!.cost <= best.get(b)!.cost ? a : b))
    open.delete(here)
    doors.forEach((door, i) => {
      if (i !== here && door.halls.some((hall) => doors[here]!.halls.includes(hall))) reach(i, best.get(here)!.cost + distance(doors[here]!.at, door.at), here)
    })
  }
  const last = [...best.keys()].filter((i) => doors[i]!.halls.includes(to.hall))
  if (last.length === 0) return stepFree ? throughDoors(halls, from, to, false) : [from, to]
  let at: number | null = last.reduce((a, b) => (best.get(a)!.cost + distance(doors[a]!.at, to.at) <= best.get(b)!.cost + distance(doors[b]!.at, to.at) ? a : b))
  const way: Spot[] = [to]
  let hall = to.hall
  while (at !== null) {
    const door: { halls: string[]; at: Point } = doors[at]!
    hall = door.halls.find((h) => h !== hall) ?? hall
    way.unshift({ hall, at: door.at })
    at = best.get(at)!.before
  }
  return [from, ...way]
}

function distance([x1, y1]: Point, [x2, y2]: Point): number {
  return Math.hypot(x2 - x1, y2 - y1)
}

/** Where a hall's name disturbs least: in its middle, or above or below it, as far from all that stands there as it goes. */
export function nameAt(hall: FloorPlan['halls'][number], taken: readonly Point[]): Point {
  const [x, y] = [hall.middle[0], -hall.middle[1]]
  const enough = 2.2 // metres
  const room = ([px, py]: Point) => Math.min(enough, ...taken.map(([tx, ty]) => Math.hypot((tx - px) * 0.6, ty - py)))
  return [0, 0.3, -0.3, 0.18, -0.18].map((part): Point => [x, y + part * hall.height]).reduce((best, at) => (room(at) > room(best) ? at : best))
}

function span(corners: readonly Point[]): number {
  const [low, high] = extent(corners.map(([, y]) => y))
  return high - low
}

function flip([x, y]: Point): Point {
  return [x, -y]
}

function extent(values: number[]): [number, number] {
  return [Math.min(...values), Math.max(...values)]
}

/** The centre of gravity of a polygon (the shoelace formula); of its corners where it has no area. */
function centre(corners: readonly Point[]): Point {
  let area = 0
  let [x, y] = [0, 0]
  corners.forEach(([x1, y1], i) => {
    const [x2, y2] = corners[(i + 1) % corners.length]!
    const cross = x1 * y2 - x2 * y1
    area += cross
    x += (x1 + x2) * cross
    y += (y1 + y2) * cross
  })
  if (Math.abs(area) < 1e-9) {
    const sum = corners.reduce<[number, number]>(([a, b], [c, d]) => [a + c, b + d], [0, 0])
    return [sum[0] / corners.length, sum[1] / corners.length]
  }
  return [x / (3 * area), y / (3 * area)]
}

/** The direction of the wall that a place is nearest to, of length 1. */
function wallAt(corners: readonly Point[], [px, py]: Point): Point {
  let best: Point = [1, 0]
  let nearest = Infinity
  corners.forEach(([x1, y1], i) => {
    const [x2, y2] = corners[(i + 1) % corners.length]!
    const length = Math.hypot(x2 - x1, y2 - y1)
    if (length === 0) return
    const along: Point = [(x2 - x1) / length, (y2 - y1) / length]
    const t = Math.min(Math.max((px - x1) * along[0] + (py - y1) * along[1], 0), length)
    const distance = Math.hypot(px - x1 - along[0] * t, py - y1 - along[1] * t)
    if (distance < nearest) [nearest, best] = [distance, along]
  })
  return best
}
