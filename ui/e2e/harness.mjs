// Opens the page in Debian's Chromium and keeps watch over it: a console error, an uncaught exception or a request to
// another host fails the test that sees it.

import assert from 'node:assert/strict'
import { chromium } from 'playwright-core'

export const screens = {
  portrait: { width: 1080, height: 1920 },
  landscape: { width: 1920, height: 1080 },
  tablet: { width: 1280, height: 800 },
}

export function launch() {
  return chromium.launch({
    executablePath: process.env.DOCENT_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--no-first-run'],
  })
}

/**
 * Opens the page at url. `expected` are console messages that the test itself brings about, as regular expressions.
 * Returns the page; calm(), which fails where anything unexpected was seen; blame(error), which adds that to an error; and
 * expect(), for the next test on this page.
 */
export async function open(browser, url, { viewport = screens.portrait, touch = true, reducedMotion = 'reduce', expected = [], serviceWorkers = 'block', locale = 'en-US', init } = {}) {
  const context = await browser.newContext({ viewport, hasTouch: touch, reducedMotion, serviceWorkers, locale })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const seen = []
  let awaited = expected
  const home = new URL(url).origin
  page.on('console', (message) => {
    if (message.type() === 'error' && !awaited.some((pattern) => pattern.test(message.text()))) seen.push(`console: ${message.text()}`)
  })
  page.on('pageerror', (error) => seen.push(`exception: ${error.stack ?? error.message}`))
  page.on('request', (request) => {
    const address = new URL(request.url())
    if (!['data:', 'blob:'].includes(address.protocol) && address.origin !== home) seen.push(`request to ${address.origin}`)
  })
  if (init) await init(page, context)
  await page.goto(url)
  return {
    page,
    expect: (patterns) => {
      awaited = patterns
      seen.length = 0
    },
    calm: () => assert.deepEqual(seen, []),
    // A test that fails for another reason says what the page complained of: it is often why.
    blame: (error) => {
      if (seen.length > 0 && error instanceof Error) error.message += `\nThe page said: ${seen.join('\n')}`
      return error
    },
    close: () => context.close(),
  }
}
