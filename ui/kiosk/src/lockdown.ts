/**
 * Closes the ways in which a touch or a key reaches the browser instead of the page: menus, zoom of the page, dragging a
 * picture out, dropping a file in, selecting all, printing, saving, finding, reloading.
 */
export function closePage(page: Document): void {
  const refuse = (event: Event) => event.preventDefault()
  for (const kind of ['contextmenu', 'dragstart', 'dragover', 'drop', 'gesturestart', 'gesturechange', 'selectstart']) {
    page.addEventListener(kind, (event) => {
      if (!(kind === 'selectstart' && isField(event.target))) refuse(event)
    })
  }
  page.addEventListener('wheel', (event) => event.ctrlKey && refuse(event), { passive: false })
  page.addEventListener('touchmove', (event) => event.touches.length > 1 && refuse(event), { passive: false })
  page.addEventListener('auxclick', refuse)
  page.addEventListener('keydown', (event) => {
    if (/^F\d{1,2}$/.test(event.key) || (event.altKey && event.key.startsWith('Arrow'))) refuse(event)
    if ((event.ctrlKey || event.metaKey) && !isEditing(event)) refuse(event)
  })
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
}

/** Copying and the like within a field stays, for those who type on a real keyboard. */
function isEditing(event: KeyboardEvent): boolean {
  return isField(event.target) && ['a', 'c', 'v', 'x', 'z'].includes(event.key.toLowerCase())
}
