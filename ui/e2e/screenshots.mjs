// Photographs every screen of the page in each shape of display, for people to look at:
//   node screenshots.mjs DIR [portrait|landscape|tablet …]
// With DOCENT_URL set, of the product at that address, as far as it can be brought to show each screen.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startFixture } from './fixture/server.mjs'
import { launch, open, screens } from './harness.mjs'

const [dir = 'test-results/screenshots', ...only] = process.argv.slice(2)
const real = process.env.DOCENT_URL
await mkdir(dir, { recursive: true })
const browser = await launch()

const begin = (page, language) => page.getByRole('button', { name: language === 'zh' ? '轻触开始' : 'Touch to begin' }).click()
const shutter = (page) => page.locator('.shutter').click()
const finished = (page) => page.locator('article[data-status=done]').last().waitFor()

/** Each screen: how the fixture is scripted, and how a visitor gets there. */
const shots = {
  attract: [{}, async (page) => page.locator('.show img').first().waitFor()],
  camera: [{}, async (page, l) => { await begin(page, l); await page.locator('img.seen').waitFor() }],
  looking: [{ photoDelay: 60_000 }, async (page, l) => { await begin(page, l); await page.locator('img.seen').waitFor(); await shutter(page); await page.waitForTimeout(600) }],
  'no-camera': [{ camera: 'alert' }, async (page, l) => begin(page, l)],
  explaining: [{ ask: 'hang' }, async (page, l) => { await begin(page, l); await shutter(page); await page.locator('.growing').waitFor() }],
  exhibit: [{}, async (page, l) => { await begin(page, l); await shutter(page); await finished(page) }],
  asked: [{}, async (page, l) => {
    await begin(page, l); await shutter(page); await finished(page)
    await page.locator('.suggestions button').first().click(); await page.locator('article[data-status=done]').nth(1).waitFor()
    await page.waitForTimeout(800)
  }],
  passage: [{}, async (page, l) => { await begin(page, l); await shutter(page); await finished(page); await page.locator('.mark').first().click(); await page.locator('mark').waitFor() }],
  choose: [{ photo: 'choose' }, async (page, l) => { await begin(page, l); await shutter(page); await page.locator('main ul').waitFor() }],
  unknown: [{ photo: 'unknown' }, async (page, l) => { await begin(page, l); await shutter(page); await page.locator('.ways .full').waitFor() }],
  list: [{ camera: 'none' }, async (page, l) => { await begin(page, l); await page.locator('.list li').first().waitFor() }],
  number: [{ camera: 'none' }, async (page, l) => {
    await begin(page, l); await page.getByRole('tab').nth(1).click()
    for (const digit of real ? '101' : '301') await page.getByRole('button', { name: digit, exact: true }).click()
  }],
  idle: [{ idleSeconds: 1 }, async (page, l) => { await begin(page, l); await page.locator('dialog').waitFor() }],
  refused: [{ photo: 'refuse' }, async (page, l) => { await begin(page, l); await shutter(page); await page.locator('.notice').waitFor() }],
}
const onReal = ['attract', 'camera', 'exhibit', 'asked', 'passage']

for (const [shape, viewport] of Object.entries(screens)) {
  if (only.length > 0 && !only.includes(shape)) continue
  for (const language of shape === 'tablet' ? ['zh'] : ['en', 'zh']) {
    for (const [name, [script, go]] of Object.entries(shots)) {
      if (real && !onReal.includes(name)) continue
      const fixture = real ? null : await startFixture(script)
      const { page, close } = await open(browser, real ?? fixture.url, { viewport })
      try {
        await go(page, language)
        await page.evaluate(() => document.fonts.ready)
        await page.waitForTimeout(400)
      } catch (error) {
        console.error(`${shape} ${language} ${name}: ${error.message.split('\n')[0]}`)
      }
      await page.screenshot({ path: join(dir, `${shape}-${language}-${name}.png`) })
      await close()
      await fixture?.close()
    }
  }
}
await browser.close()
