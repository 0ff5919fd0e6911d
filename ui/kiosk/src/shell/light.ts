/** Of the full light, what is left at brightness 0: dark, and still to be read. */
const least = 0.2

/**
 * Dims the picture, for screens that cannot be dimmed themselves; base.css does it.
 * @param brightness as the house has set it, 0 to 100
 */
export function light(root: HTMLElement, brightness: number): void {
  root.toggleAttribute('data-dim', brightness < 100)
  root.style.setProperty('--light', String(least + ((1 - least) * Math.max(brightness, 0)) / 100))
}
