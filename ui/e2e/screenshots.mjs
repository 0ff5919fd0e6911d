// Photographs every screen of the page in each shape of display, for people to look at, and lays them out on sheets:
//   node screenshots.mjs DIR [portrait|landscape|tablet …] [--only NAME,NAME] [--sheets FOLDER]
// With --only, the sheets show the others as they are in DIR from before.
// With DOCENT_URL set, of the product at that address, as far as it can be brought to show each screen.

import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startFixture } from './fixture/server.mjs'
import { launch, open, screens } from './harness.mjs'
import { states } from './states.mjs'

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' }, sheets: { type: 'string' } } })
const [dir = 'test-results/screenshots', ...only] = positionals
const real = process.env.DOCENT_URL
await mkdir(dir, { recursive: true })
const browser = await launch()

const wanted = options.only?.split(',')
const onReal = ['attract', 'camera', 'exhibit', 'asked', 'passage']

for (const [shape, viewport] of Object.entries(screens)) {
  if (only.length > 0 && !only.includes(shape)) continue
  for (const language of shape === 'tablet' ? ['zh'] : ['en', 'zh']) {
    let fixture = real ? null : await startFixture()
    let page
    let close
    for (const [name, [script, go]] of Object.entries(states)) {
      if (real ? !onReal.includes(name) : wanted && !wanted.includes(name)) continue
      // Most states follow each other on one page; the night moves.
      if (page && name !== 'night') {
        await page.goto('about:blank')
        fixture?.reset(script)
        await page.goto(real ?? fixture.url)
      } else {
        await close?.()
        fixture?.reset(script)
        ;({ page, close } = await open(browser, real ?? fixture.url, { viewport, reducedMotion: name === 'night' ? 'no-preference' : 'reduce' }))
      }
      try {
        await go(page, language, fixture)
        await page.evaluate(() => document.fonts.ready)
        await page.waitForTimeout(name === 'night' ? 3_000 : 400)
      } catch (error) {
        console.error(`${shape} ${language} ${name}: ${error.message.split('\n')[0]}`)
        process.exitCode = 1
      }
      const path = join(dir, `${shape}-${language}-${name}.png`)
      await page.screenshot({ path })
      if (name === 'away') fixture = await startFixture()
      if (name === 'night') {
        await close()
        page = close = undefined
      }
    }
    await close?.()
    await fixture?.close()
  }
}
if (options.sheets) await layOut(options.sheets)
await browser.close()

/** One sheet for each shape and language, small enough to be kept beside the documents. */
async function layOut(folder) {
  await mkdir(folder, { recursive: true })
  for (const sheet of Object.keys(screens).flatMap((shape) => (shape === 'tablet' ? ['tablet-zh'] : [`${shape}-en`, `${shape}-zh`]))) {
    const shots = Object.keys(states).map((name) => ({ name, path: join(dir, `${sheet}-${name}.png`) })).filter(({ path }) => existsSync(path))
    if (shots.length === 0) continue
    const columns = sheet.startsWith('portrait') ? 8 : 5
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } })
    const figures = await Promise.all(
      shots.map(async ({ name, path }) => `<figure><img src="data:image/png;base64,${(await readFile(path)).toString('base64')}"><figcaption>${name}</figcaption></figure>`),
    )
    await page.setContent(
      `<style>body{margin:12px;display:grid;grid-template-columns:repeat(${columns},1fr);gap:12px;align-content:start;background:#e9e3d7;font:13px sans-serif}figure{margin:0}img{width:100%;display:block;border-radius:4px}figcaption{padding:4px 2px;color:#645b4f}</style>${figures.join('')}`,
    )
    await page.evaluate(() => Promise.all([...document.images].map((img) => img.decode())))
    await page.screenshot({ path: join(folder, `ui-${sheet}.jpg`), type: 'jpeg', quality: 62, fullPage: true })
    await page.close()
  }
}
