/** How long the warning counts down before everything is cleared, in seconds (WCAG 2.2.1 asks for at least 20). */
export const countdownSeconds = 20

interface IdleOptions {
  /** Seconds without a touch until the warning. */
  after: () => number
  /** Called when the countdown has run out. */
  expire: () => void
}

/**
 * Watches for a visitor who has left. Runs between start and stop; every touch begins the wait anew. A hold pauses it, for
 * as long as something is going on that needs no touch.
 */
export class IdleWatch {
  /** Seconds left of the countdown; null while no warning is shown. */
  left = $state<number | null>(null)

  readonly #options: IdleOptions
  #running = false
  #holds = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: IdleOptions) {
    this.#options = options
  }

  start(): void {
    this.#running = true
    this.stay()
  }

  stop(): void {
    this.#running = false
    this.left = null
    clearTimeout(this.#timer)
  }

  /** Something was touched. Does not take back a warning, which asks for an answer. */
  touch(): void {
    if (this.left === null) this.#wait()
  }

  /** The visitor says that they are here. */
  stay(): void {
    this.left = null
    this.#wait()
  }

  /** Pauses the watch until the returned function is called. */
  hold(): () => void {
    this.#holds++
    this.stay()
    let held = true
    return () => {
      if (!held) return
      held = false
      this.#holds--
      this.touch()
    }
  }

  #wait(): void {
    clearTimeout(this.#timer)
    if (!this.#running || this.#holds > 0) return
    this.#timer = setTimeout(() => this.#count(countdownSeconds), this.#options.after() * 1000)
  }

  #count(seconds: number): void {
    if (seconds === 0) {
      this.stop()
      this.#options.expire()
      return
    }
    this.left = seconds
    this.#timer = setTimeout(() => this.#count(seconds - 1), 1000)
  }
}
