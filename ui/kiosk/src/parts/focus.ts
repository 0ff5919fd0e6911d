/** Brings the keyboard and the screen reader to the head of a screen that has just come. */
export function focusOnArrival(node: HTMLElement): void {
  node.focus({ preventScroll: true })
}
