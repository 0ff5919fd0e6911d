// What a test does as a visitor would: opens the page before a server of its own, touches, reads.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { startFixture } from './fixture/server.mjs'
import { launch, open, screens } from './harness.mjs'

let browser
let rules
/** A page and its fixture that tests use one after the other; each loads it anew. */
let shared
export function useBrowser() {
  before(async () => {
    browser = await launch()
    rules = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  })
  after(async () => {
    await browser?.close()
    await shared?.fixture.close()
    shared = undefined
  })
}

export const theBrowser = () => browser

/**
 * Runs a test before a fixture that follows a script, and fails it for anything unexpected in the console or on the network.
 * Tests share a page, which is loaded anew for each; with `own` a test gets a browser context and a fixture of its own, as it
 * must where it sets the clock, moves, or closes its fixture.
 */
export function visit(name, script, steps, { own = false, viewport = screens.portrait, expected = [], ...options } = {}) {
  test(name, { timeout: 120_000 }, async () => {
    if (own) return alone(script, steps, { viewport, expected, ...options })
    if (!shared) {
      const fixture = await startFixture(script)
      shared = { fixture, opened: await open(browser, fixture.url, { viewport, expected }) }
    } else {
      const { page } = shared.opened
      await page.goto('about:blank')
      shared.fixture.reset(script)
      shared.opened.expect(expected)
      await page.setViewportSize(viewport)
      await page.goto(shared.fixture.url)
    }
    try {
      await steps(shared.opened.page, shared.fixture)
    } catch (error) {
      throw shared.opened.blame(error)
    }
    shared.opened.calm()
  })
}

async function alone(script, steps, options) {
  const fixture = await startFixture(script)
  const opened = await open(browser, fixture.url, options)
  try {
    await steps(opened.page, fixture)
    opened.calm()
  } catch (error) {
    throw opened.blame(error)
  } finally {
    await opened.close()
    await fixture.close()
  }
}

export const button = (page, name) => page.getByRole('button', { name, exact: true })
export const heading = (page, name) => page.getByRole('heading', { name, exact: true })
export const answered = (page, count) => page.locator('article[data-status=done]').nth(count - 1)

/** What the buttons say. */
export const say = {
  en: {
    begin: 'Touch to begin', shutter: 'Take the photo', over: 'Start over', ask: 'Ask', close: 'Close', done: 'Done', title: 'Phyllotaxis',
    comfort: 'Make it easier to use', larger: 'Larger', contrast: 'Stronger contrast', low: 'Controls further down', still: 'Less movement',
    listen: 'Listen', stopReading: 'Stop reading', chapters: 'Read on', compare: 'Compare', everyone: 'For everyone', child: 'For children',
    nearer: 'Nearer', farther: 'Farther', inCommon: 'What do they have in common?',
  },
  zh: {
    begin: '轻触开始', shutter: '拍照', over: '重新开始', ask: '提问', close: '关闭', done: '完成', title: '叶序',
    comfort: '让使用更方便', larger: '大一些', contrast: '高对比度', low: '按钮移到下方', still: '减少动画',
    listen: '朗读', stopReading: '停止朗读', chapters: '继续阅读', compare: '比较', everyone: '给大家', child: '给孩子',
    nearer: '放大', farther: '缩小', inCommon: '它们有什么共同之处？',
  },
}

export async function photograph(page, language = 'en') {
  await button(page, say[language].begin).click()
  await page.locator('img.seen').waitFor()
  await button(page, say[language].shutter).click()
}

export async function explained(page, language = 'en') {
  await photograph(page, language)
  await answered(page, 1).waitFor()
}

/** Touches the keys of the on-screen keyboard. */
export async function press(page, keys) {
  for (const key of keys) await page.locator(`.hg-button[data-skbtn="${key}"]`).click()
}

/** What slides in has arrived: only then is its place on the display its place. */
async function settled(page) {
  await page.evaluate(async () => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    const passing = () => document.getAnimations().filter((a) => a.effect.getTiming().iterations !== Infinity && a.playState === 'running')
    for (let moving = passing(); moving.length > 0; moving = passing()) {
      // A cancelled movement is over as well.
      await Promise.allSettled(moving.map((a) => a.finished))
      await new Promise(requestAnimationFrame)
    }
  })
}

/** Fails where the page breaks a rule of WCAG 2.2 AA, as far as axe can tell. */
export async function noBarriers(page, more = []) {
  await settled(page)
  await page.evaluate(rules)
  const found = await page.evaluate(
    (also) =>
      window.axe.run(document, {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
        rules: Object.fromEntries(also.map((rule) => [rule, { enabled: true }])),
      }),
    more,
  )
  assert.deepEqual(found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(' ')).join(', ')}`), [])
}

/** What sticks out of the display or is too small for a finger. */
export async function misfits(page, smallest = 44) {
  await settled(page)
  return page.evaluate((least) => {
    const wrong = []
    if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than the display')
    const top = [...document.querySelectorAll('dialog[open]')].at(-1)
    for (const control of (top ?? document).querySelectorAll('button, input')) {
      if (!control.checkVisibility()) continue
      const after = getComputedStyle(control, '::after')
      const box = control.getBoundingClientRect()
      const larger = (side, own) => Math.max(own, after.content === 'none' || after.position !== 'absolute' ? 0 : parseFloat(after[side]) || 0)
      const name = control.getAttribute('aria-label') ?? control.innerText ?? ''
      if (larger('width', box.width) < least - 0.5 || larger('height', box.height) < least - 0.5) wrong.push(`${name}: ${box.width} × ${box.height}`)
      const scrolls = control.closest('.scroll, .scroll-across, .candidates, dialog.card')
      if (!scrolls && (box.left < -1 || box.right > innerWidth + 1)) wrong.push(`${name}: beyond the side`)
      if (!scrolls && (box.top < -1 || box.bottom > innerHeight + 1)) wrong.push(`${name}: beyond the end`)
      if (control.tagName === 'BUTTON' && name.trim() === '' && !control.querySelector('img[alt]')) wrong.push(`a button without name: ${control.outerHTML.slice(0, 80)}`)
    }
    return wrong
  }, smallest)
}

export async function waitUntil(holds, what) {
  for (let i = 0; i < 100; i++) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.fail(what)
}
