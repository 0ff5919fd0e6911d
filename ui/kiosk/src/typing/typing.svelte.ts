/** Below this, in CSS pixels of the shorter side, the page is on a phone, which has a keyboard of its own. */
const smallestKiosk = 500

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
    const left = () => this.field === field && this.close()
    field.addEventListener('click', touched)
    field.addEventListener('blur', left)
    return () => {
      field.removeEventListener('click', touched)
      field.removeEventListener('blur', left)
      left()
    }
  }
}
