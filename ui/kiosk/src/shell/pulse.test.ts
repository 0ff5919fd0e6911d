import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Pulse } from './pulse.svelte'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function watched() {
  const shown = [{ dataset: { beat: '0' } }, { dataset: { beat: '0' } }]
  const stuck = vi.fn()
  const pulse = new Pulse(stuck)
  pulse.start({ querySelectorAll: () => shown } as unknown as ParentNode)
  /** Lets one beat pass, which reaches the first elements of the display only. */
  const beat = (reached = shown.length) => {
    vi.advanceTimersByTime(10_000)
    for (const element of shown.slice(0, reached)) element.dataset.beat = String(pulse.beat)
  }
  return { beat, stuck, pulse }
}

test('a display that follows is left alone', () => {
  const { beat, stuck } = watched()
  for (let i = 0; i < 100; i++) beat()
  expect(stuck).not.toHaveBeenCalled()
})

test('a part that stays behind is noticed, once', () => {
  const { beat, stuck } = watched()
  beat()
  for (let i = 0; i < 3; i++) beat(1)
  vi.advanceTimersByTime(5_000)
  expect(stuck).toHaveBeenCalledTimes(1)
  for (let i = 0; i < 10; i++) beat(1)
  expect(stuck).toHaveBeenCalledTimes(1)
})

test('a busy moment is forgiven', () => {
  const { beat, stuck } = watched()
  for (let i = 0; i < 10; i++) {
    beat(0)
    beat(1)
    beat()
  }
  expect(stuck).not.toHaveBeenCalled()
})

test('nothing is watched any more when the page goes', () => {
  const { beat, stuck, pulse } = watched()
  pulse.stop()
  for (let i = 0; i < 10; i++) beat(0)
  expect(stuck).not.toHaveBeenCalled()
})
