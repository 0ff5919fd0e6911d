import { expect, test } from 'vitest'
import { Zoom } from './zoom'

test('comes nearer around a place, which stays where it is', () => {
  const near = new Zoom().scaled(2, { x: 0.25, y: -0.25 })
  expect(near).toMatchObject({ scale: 2, x: -0.25, y: 0.25 })
})

test('stays on the stage, and is whole at scale 1', () => {
  expect(new Zoom().moved(1, 1)).toMatchObject({ scale: 1, x: 0, y: 0 })
  expect(new Zoom().scaled(3).moved(9, -9)).toMatchObject({ scale: 3, x: 1, y: -1 })
  expect(new Zoom().scaled(3).moved(1, 1).scaled(0.01)).toMatchObject({ scale: 1, x: 0, y: 0 })
})

test('has an end', () => {
  let view = new Zoom()
  for (let i = 0; i < 20; i++) view = view.scaled(1.5)
  expect(view).toMatchObject({ scale: 8, atEnd: true })
})
