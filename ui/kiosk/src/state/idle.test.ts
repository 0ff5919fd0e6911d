import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { countdownSeconds, IdleWatch } from './idle.svelte'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function watch() {
  const expire = vi.fn()
  return { expire, idle: new IdleWatch({ after: () => 60, expire }) }
}

test('warns after the wait, counts down, and expires', () => {
  const { idle, expire } = watch()
  idle.start()
  vi.advanceTimersByTime(59_999)
  expect(idle.left).toBeNull()
  vi.advanceTimersByTime(1)
  expect(idle.left).toBe(countdownSeconds)
  vi.advanceTimersByTime(countdownSeconds * 1000 - 1)
  expect(idle.left).toBe(1)
  expect(expire).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(expire).toHaveBeenCalledTimes(1)
  expect(idle.left).toBeNull()
  vi.advanceTimersByTime(600_000)
  expect(expire).toHaveBeenCalledTimes(1)
})

test('a touch begins the wait anew', () => {
  const { idle } = watch()
  idle.start()
  for (let i = 0; i < 10; i++) {
    vi.advanceTimersByTime(50_000)
    idle.touch()
  }
  expect(idle.left).toBeNull()
})

test('a touch does not take back the warning, but the answer does, any number of times', () => {
  const { idle, expire } = watch()
  idle.start()
  for (let i = 0; i < 12; i++) {
    vi.advanceTimersByTime(65_000)
    idle.touch()
    expect(idle.left).toBe(countdownSeconds - 5)
    idle.stay()
    expect(idle.left).toBeNull()
  }
  expect(expire).not.toHaveBeenCalled()
})

test('waits while held', () => {
  const { idle } = watch()
  idle.start()
  const first = idle.hold()
  const second = idle.hold()
  vi.advanceTimersByTime(600_000)
  first()
  first()
  vi.advanceTimersByTime(600_000)
  expect(idle.left).toBeNull()
  second()
  vi.advanceTimersByTime(60_000)
  expect(idle.left).toBe(countdownSeconds)
})

test('does nothing before start and after stop', () => {
  const { idle, expire } = watch()
  idle.touch()
  vi.advanceTimersByTime(600_000)
  idle.start()
  idle.stop()
  idle.touch()
  vi.advanceTimersByTime(600_000)
  expect(idle.left).toBeNull()
  expect(expire).not.toHaveBeenCalled()
})
