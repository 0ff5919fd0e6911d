import { expect, test, vi } from 'vitest'
import type { LiveQuality } from '../api/contract'
import { HoldStill } from './holdstill.svelte'

async function watched(pictures: [steady: number, advice?: LiveQuality['advice']][]) {
  const take = vi.fn()
  const hold = new HoldStill(take)
  async function* live() {
    for (const [steady, advice = ''] of pictures) yield { steady, advice, still: steady === 1 }
  }
  await hold.watch(live(), new AbortController().signal)
  return { hold, taken: take.mock.calls.length }
}

test.each([
  ['moved, then held still', [[0], [0.5], [1]], 1],
  ['still all the time', [[1], [1], [1]], 0],
  ['never still', [[0], [0.5], [0.1], [0.6]], 0],
  ['still, but too dark', [[0], [0.5], [1, 'too_dark']], 0],
  ['dark at first, and then not', [[0, 'too_dark'], [1, 'too_dark'], [1]], 1],
  ['one photo each time', [[0], [1], [0], [1]], 1],
] as const)('%s', async (_, pictures, taken) => {
  expect((await watched(pictures.map((p) => [...p]) as never)).taken).toBe(taken)
})

test('says what is in the way, but not that a moving picture is blurred', async () => {
  expect((await watched([[0, 'blurred']])).hold.advice).toBe('')
  expect((await watched([[1, 'blurred']])).hold.advice).toBe('blurred')
  expect((await watched([[0.3, 'too_bright']])).hold.advice).toBe('too_bright')
})
