/** Puts text where the caret is, in place of what is selected, as far as the field has room; the field hears of it. */
export function insert(field: HTMLInputElement, text: string): void {
  const [from, to] = selection(field)
  const room = field.maxLength < 0 ? Infinity : field.maxLength - (field.value.length - (to - from))
  change(field, [...text].reduce((fitting, c) => (fitting.length + c.length <= room ? fitting + c : fitting), ''), from, to)
}

/** Takes away what is selected, else the character before the caret. */
export function erase(field: HTMLInputElement): void {
  const [from, to] = selection(field)
  if (from !== to) return change(field, '', from, to)
  const last = [...field.value.slice(0, from)].at(-1)
  if (last) change(field, '', from - last.length, from)
}

function selection(field: HTMLInputElement): [number, number] {
  const end = field.value.length
  return [field.selectionStart ?? end, field.selectionEnd ?? end]
}

function change(field: HTMLInputElement, text: string, from: number, to: number): void {
  field.setRangeText(text, from, to, 'end')
  field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  if (field.selectionEnd === field.value.length) field.scrollLeft = field.scrollWidth
}
