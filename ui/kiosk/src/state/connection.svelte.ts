const firstPause = 1_000
const longestPause = 5_000

/**
 * Knows whether the server is there. Once a call finds it gone, asks again and again until it answers, with growing pauses
 * of 1 to 5 s and ± 20 % so that many kiosks do not ask in step.
 */
export class Connection {
  lost = $state(false)

  readonly #probe: () => Promise<void>
  readonly #back: () => void
  readonly #random: () => number
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(probe: () => Promise<void>, back: () => void, random: () => number = Math.random) {
    this.#probe = probe
    this.#back = back
    this.#random = random
  }

  /** Says that a call found the server gone. */
  report(): void {
    if (this.lost) return
    this.lost = true
    this.#ask(firstPause)
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #ask(pause: number): void {
    const spread = 0.8 + 0.4 * this.#random()
    this.#timer = setTimeout(async () => {
      try {
        await this.#probe()
      } catch {
        this.#ask(Math.min(pause * 2, longestPause))
        return
      }
      this.lost = false
      this.#back()
    }, pause * spread)
  }
}
