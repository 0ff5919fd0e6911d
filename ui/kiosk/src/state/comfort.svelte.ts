/** How much larger letters may be made: controls grow less than what is read, which doubles. */
const sizes = [
  { controls: 1, reading: 1 },
  { controls: 1.1, reading: 1.12 },
  { controls: 1.2, reading: 1.3 },
  { controls: 1.3, reading: 1.54 },
] as const

export const volumeSteps = 5
const usualVolume = 4

/** What a visitor has set for themselves. All of it is set back when they leave. */
export class Comfort {
  /** 0 is the usual size. */
  size = $state(0)
  contrast = $state(false)
  /** All controls in the lower part of the screen. */
  low = $state(false)
  /** No movement. */
  still = $state(false)
  /** Of the reading voice, 1 to {@link volumeSteps}. */
  volume = $state(usualVolume)

  readonly sizes = sizes.length

  get changed(): boolean {
    return this.size !== 0 || this.contrast || this.low || this.still || this.volume !== usualVolume
  }

  resize(by: 1 | -1): void {
    this.size = Math.min(Math.max(this.size + by, 0), sizes.length - 1)
  }

  louder(by: 1 | -1): void {
    this.volume = Math.min(Math.max(this.volume + by, 1), volumeSteps)
  }

  /** Whether movement shall be left out, by this visitor's choice or the system's. */
  get calm(): boolean {
    return this.still || globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches === true
  }

  reset(): void {
    this.size = 0
    this.contrast = this.low = this.still = false
    this.volume = usualVolume
  }

  /** Writes the settings where the styles look for them. */
  show(root: HTMLElement): void {
    const { controls, reading } = sizes[this.size]!
    root.style.setProperty('--size', String(controls))
    root.style.setProperty('--reading', String(reading))
    root.toggleAttribute('data-contrast', this.contrast)
    root.toggleAttribute('data-low', this.low)
    root.toggleAttribute('data-still', this.still)
  }
}
