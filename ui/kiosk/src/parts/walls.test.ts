import { expect, test } from 'vitest'
import { roundCorners } from './walls'

type Point = readonly [number, number]
const room: Point[] = [[0, 0], [10, 0], [10, 8], [0, 8]]
const angle: Point[] = [[0, 0], [10, 0], [10, 4], [4, 4], [4, 8], [0, 8]]
const horseshoe: Point[] = [[0, 0], [10, 0], [10, 8], [7, 8], [7, 3], [3, 3], [3, 8], [0, 8]]

test('straight where nothing is in the way', () => {
  expect(roundCorners(room, [1, 1], [9, 7])).toEqual([])
  expect(roundCorners(angle, [1, 1], [9, 3])).toEqual([])
  expect(roundCorners([], [1, 1], [9, 7])).toEqual([])
  expect(roundCorners(angle, [10, 2], [0, 5]), 'from door to door').toHaveLength(0)
})

test('round a corner, a little off it, whichever way the outline goes', () => {
  for (const outline of [angle, angle.toReversed()]) {
    const [corner, ...more] = roundCorners(outline, [9, 3.5], [3.5, 7])
    expect(more).toEqual([])
    expect(corner![0]).toBeCloseTo(3.75, 1)
    expect(corner![1]).toBeCloseTo(3.75, 1)
  }
})

test('round two', () => {
  expect(roundCorners(horseshoe, [1, 7], [9, 7]).map(([x, y]) => [Math.round(x), Math.round(y)])).toEqual([[3, 3], [7, 3]])
  expect(roundCorners(horseshoe, [9, 7], [1, 7])).toHaveLength(2)
})

test('straight where no way leads', () => {
  expect(roundCorners(room, [1, 1], [30, 30])).toEqual([])
})
