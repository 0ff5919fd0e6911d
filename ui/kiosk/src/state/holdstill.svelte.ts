import { Problem, Unreachable } from '../api/client'
import type { Advice, LiveQuality } from '../api/contract'

/**
 * Takes the photo when the camera is held still before something that can be seen. It waits for a movement first: what
 * stands still since the screen came, such as an empty wall before a fixed camera, is not what somebody wants to show.
 */
export class HoldStill {
  /** How much of the time that counts as still has passed, 0 to 1. */
  steady = $state(0)
  /** Why the live picture would make a poor photo; empty where it would not. */
  advice = $state<Advice>('')

  readonly #take: () => void
  #moved = false

  constructor(take: () => void) {
    this.#take = take
  }

  /** Follows the live picture until the signal; without it, visitors have the shutter. */
  async watch(live: AsyncIterable<LiveQuality>, signal: AbortSignal): Promise<void> {
    this.#moved = false
    this.steady = 0
    try {
      for await (const { advice, still, steady } of live) {
        if (signal.aborted) return
        if (steady < 0.2) this.#moved = true
        // Moving pictures are blurred; that needs no saying.
        this.advice = advice === 'blurred' && !still ? '' : advice
        this.steady = this.#moved && advice === '' ? steady : 0
        if (still && this.#moved && advice === '') {
          this.#moved = false
          this.#take()
          return
        }
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof Problem) && !(error instanceof Unreachable)) throw error
    } finally {
      if (!signal.aborted) this.steady = 0
    }
  }
}
