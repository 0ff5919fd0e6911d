import { expect, test } from 'vitest'
import { floorsOf, nameAt, planOf, wayBetween, within } from './plan'

const halls = [
  { id: 'a', name: {}, floor: 1, outline: [[0, 0], [10, 0], [10, 8], [0, 8]], doors: [{ to: 'b', at: [10, 4], step_free: true }, { to: 'c', at: [5, 8], step_free: false }] },
  { id: 'b', name: {}, floor: 1, outline: [[10, 0], [20, 0], [20, 8], [10, 8]] },
  { id: 'c', name: {}, floor: 2, outline: [[0, 0], [4, 0], [4, 4]], doors: null },
  { id: 'd', name: {}, floor: 3, outline: [] },
] as never

test('floors are those that are drawn', () => {
  expect(floorsOf(halls)).toEqual([1, 2])
  expect(planOf(halls, 3)).toBeNull()
})

test('north is up, doors lie along their walls', () => {
  const plan = planOf(halls, 1)!
  expect(plan.box).toEqual({ x: -0.6, y: -8.6, width: 21.2, height: 9.2 })
  expect(plan.halls.map((hall) => hall.id)).toEqual(['a', 'b'])
  expect(plan.halls[0]?.path).toBe('M0 0L10 0L10 -8L0 -8Z')
  expect(plan.halls[0]?.middle).toEqual([5, -4])
  const [east, north] = plan.doors
  expect(east).toMatchObject({ from: [10, -3.3], to: [10, -4.7], stepFree: true })
  expect(north?.from[1]).toBe(-8)
  expect(Math.abs(north!.from[0] - north!.to[0])).toBeCloseTo(1.4)
})

test('places are fractions of the drawing', () => {
  const plan = planOf(halls, 1)!
  const [x, y] = within(plan, [10, 4])
  expect(x).toBeCloseTo(0.5)
  expect(y).toBeCloseTo(0.5)
  expect(within(plan, [0, 8])[1]).toBeLessThan(within(plan, [0, 0])[1])
})

test('a name stands where nothing else does', () => {
  const [hall] = planOf(halls, 1)!.halls
  expect(nameAt(hall!, [])).toEqual([5, 4])
  expect(nameAt(hall!, [[5, 4]])).toEqual([5, 6.4])
  expect(nameAt(hall!, [[5, 4], [5, 6.4]])).toEqual([5, 1.6])
})

test('a way leads through the doors, and round the steps where there is one', () => {
  const house = [
    { id: 'a', name: {}, floor: 1, outline: [], doors: [{ to: 'b', at: [10, 4], step_free: true }, { to: 'c', at: [5, 8], step_free: false }] },
    { id: 'b', name: {}, floor: 1, outline: [], doors: [{ to: 'c', at: [12, 10], step_free: true }] },
    { id: 'c', name: {}, floor: 1, outline: [] },
    { id: 'd', name: {}, floor: 1, outline: [] },
  ] as never
  const at = (hall: string, x: number, y: number) => ({ hall, at: [x, y] as const })
  const places = (way: { at: readonly number[] }[]) => way.map((spot) => spot.at)
  expect(places(wayBetween(house, at('a', 1, 1), at('a', 2, 2), false))).toEqual([[1, 1], [2, 2]])
  expect(places(wayBetween(house, at('a', 5, 6), at('c', 5, 10), false))).toEqual([[5, 6], [5, 8], [5, 10]])
  expect(places(wayBetween(house, at('a', 5, 6), at('c', 5, 10), true))).toEqual([[5, 6], [10, 4], [12, 10], [5, 10]])
  expect(places(wayBetween(house, at('c', 5, 10), at('a', 5, 6), true))).toEqual([[5, 10], [12, 10], [10, 4], [5, 6]])
  expect(places(wayBetween(house, at('a', 1, 1), at('d', 9, 9), true))).toEqual([[1, 1], [9, 9]])
})
