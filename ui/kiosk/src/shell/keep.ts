/**
 * Lets the browser keep the page for a start without the server. Only where it may: a kiosk speaks to its own machine, which
 * browsers trust; a phone on the network does not get it.
 */
export function keepPage(): void {
  if (!import.meta.env.PROD || !window.isSecureContext || !('serviceWorker' in navigator)) return
  navigator.serviceWorker.register('/shell.js').catch(() => undefined)
}
