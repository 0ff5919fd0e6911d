import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Connection } from './connection.svelte'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('asks with growing pauses until the server answers', async () => {
  const asked: number[] = []
  const begin = Date.now()
  const back = vi.fn()
  const connection = new Connection(
    async () => {
      asked.push(Date.now() - begin)
      if (asked.length < 5) throw new Error('away')
    },
    back,
    () => 0.5,
  )
  connection.report()
  connection.report()
  expect(connection.lost).toBe(true)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toEqual([1000, 3000, 7000, 12_000, 17_000])
  expect(back).toHaveBeenCalledTimes(1)
  expect(connection.lost).toBe(false)
})

test('can be lost again', async () => {
  const back = vi.fn()
  const connection = new Connection(async () => undefined, back, () => 0)
  for (let i = 1; i <= 3; i++) {
    connection.report()
    await vi.advanceTimersByTimeAsync(1000)
    expect(back).toHaveBeenCalledTimes(i)
  }
})
