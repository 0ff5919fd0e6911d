/** Below this, in CSS pixels of the shorter side, the page is on a phone, which has a keyboard of its own. */
const smallestKiosk = 500

/** Until the click that follows a touch has found its target, in milliseconds. */
const afterTouch = 60

/** Which field the on-screen keyboard types into. */
export class Typing {
  /** The field that was touched; null while the keyboard is away. */
  field = $state.raw<HTMLInputElement | null>(null)

  close(): void {
    this.field = null
  }

  /** For {@attach}: a touch in the field brings the keyboard; it leaves when the field is left. */
  readonly attach = (field: HTMLInputElement): (() => void) => {
    if (Math.min(screen.width, screen.height, innerWidth) < smallestKiosk) return () => undefined
    field.inputMode = 'none' // the system's own keyboard stays away
    const touched = () => (this.field = field)
    // The screen grows when the keyboard leaves. It must not do so under a finger, or what is touched is not what it meets.
    let fingers = 0
    const down = () => fingers++
    const up = () => (fingers = Math.max(0, fingers - 1))
    const leave = () => {
      if (this.field !== field || document.activeElement === field) return
      if (fingers > 0) addEventListener('pointerup', () => setTimeout(leave, afterTouch), { once: true })
      else this.close()
    }
    const left = () => setTimeout(leave, 0)
    field.addEventListener('click', touched)
    field.addEventListener('blur', left)
    addEventListener('pointerdown', down, { capture: true })
    addEventListener('pointerup', up, { capture: true })
    addEventListener('pointercancel', up, { capture: true })
    return () => {
      field.removeEventListener('click', touched)
      field.removeEventListener('blur', left)
      removeEventListener('pointerdown', down, { capture: true })
      removeEventListener('pointerup', up, { capture: true })
      removeEventListener('pointercancel', up, { capture: true })
      if (this.field === field) this.close()
    }
  }
}
