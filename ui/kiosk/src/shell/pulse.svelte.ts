/** Milliseconds between two beats, and how long one may take to reach the display. */
const every = 10_000
const grace = 5_000
/** Beats in a row that did not arrive before the page is loaded anew. */
const patience = 3

/**
 * Notices a display that has stopped following the page's state: the frame that draws it has had faults that froze a part of
 * it for good, silently, and so may a mistake of ours. Whatever can be on the display carries the beat in `data-beat`; where
 * one stays behind, the display is frozen.
 */
export class Pulse {
  /** Counts up while the page lives. */
  beat = $state(0)

  readonly #stuck: () => void
  #missed = 0
  #timer: ReturnType<typeof setInterval> | undefined
  #look: ReturnType<typeof setTimeout> | undefined

  constructor(stuck: () => void) {
    this.#stuck = stuck
  }

  start(root: ParentNode): void {
    this.stop()
    this.#timer = setInterval(() => {
      this.beat++
      const expected = String(this.beat)
      this.#look = setTimeout(() => this.#check(root, expected), grace)
    }, every)
  }

  stop(): void {
    clearInterval(this.#timer)
    clearTimeout(this.#look)
  }

  #check(root: ParentNode, expected: string): void {
    const follows = [...root.querySelectorAll<HTMLElement>('[data-beat]')].every((shown) => shown.dataset.beat === expected)
    this.#missed = follows ? 0 : this.#missed + 1
    if (this.#missed < patience) return
    this.stop()
    this.#stuck()
  }
}
