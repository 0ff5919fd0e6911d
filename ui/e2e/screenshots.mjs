// Photographs every screen of the page in each shape of display, for people to look at, and lays them out on sheets:
//   node screenshots.mjs DIR [portrait|landscape|tablet …] [--only NAME,NAME] [--sheets FOLDER]
// With DOCENT_URL set, of the product at that address, as far as it can be brought to show each screen.

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startFixture } from './fixture/server.mjs'
import { launch, open, screens } from './harness.mjs'
import { press, say } from './visitor.mjs'

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' }, sheets: { type: 'string' } } })
const [dir = 'test-results/screenshots', ...only] = positionals
const real = process.env.DOCENT_URL
await mkdir(dir, { recursive: true })
const browser = await launch()

const begin = (page, language) => page.getByRole('button', { name: language === 'zh' ? '轻触开始' : 'Touch to begin' }).click()
const shutter = (page) => page.locator('.shutter').click()
const finished = (page) => page.locator('article[data-status=done]').last().waitFor()

const exhibit = async (page, l) => { await begin(page, l); await shutter(page); await finished(page) }
const touch = (page, name) => page.getByRole('button', { name, exact: true }).click()
const tool = async (page, l, at) => { await exhibit(page, l); await page.locator('.tools button').nth(at).click(); await page.locator('dialog').waitFor() }
const set = async (page, l, on, larger = 0) => {
  await touch(page, say[l].comfort)
  for (let i = 0; i < larger; i++) await touch(page, say[l].larger)
  for (const name of on) await page.getByRole('switch', { name: say[l][name] }).click()
  await touch(page, say[l].done)
}

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
  keyboard: [{}, async (page, l) => { await exhibit(page, l); await page.getByRole('textbox').click(); await press(page, l === 'zh' ? 'huangjin' : 'why') }],
  listening: [{ sentence: 30 }, async (page, l) => { await exhibit(page, l); await page.locator('.tools button').first().click(); await page.locator('.heard p').waitFor() }],
  chapters: [{}, (page, l) => tool(page, l, 1)],
  compare: [{}, async (page, l) => { await tool(page, l, 2); await page.locator('dialog li button').first().click(); await page.locator('.sides').waitFor() }],
  plan: [{}, async (page, l) => { await tool(page, l, 3); await page.locator('.spot').first().waitFor() }],
  walk: [{}, async (page, l) => { await tool(page, l, 3); await page.locator('.ways .full').click(); await page.locator('.ways .full').click(); await page.locator('.walk li').first().waitFor() }],
  take: [{}, async (page, l) => { await tool(page, l, 4); await page.locator('.take img').waitFor() }],
  level: [{}, (page, l) => tool(page, l, 5)],
  viewer: [{}, async (page, l) => { await exhibit(page, l); await page.locator('.reference').click(); await touch(page, say[l].nearer) }],
  comfort: [{}, async (page, l) => { await exhibit(page, l); await touch(page, say[l].comfort) }],
  remembered: [{}, async (page, l) => { await exhibit(page, l); await touch(page, say[l].comfort); await page.locator('.more').click(); await page.locator('.remembered li').waitFor() }],
  large: [{}, async (page, l) => { await exhibit(page, l); await set(page, l, ['contrast'], 3) }],
  low: [{}, async (page, l) => { await exhibit(page, l); await set(page, l, ['low']) }],
  still: [{ phone: true, quality: [{ steady: 0 }, { steady: 0.6 }] }, async (page, l) => { await begin(page, l); await page.locator('img.seen').waitFor(); await page.waitForTimeout(700) }],
  phone: [{ phone: true }, async (page, l) => { await begin(page, l); await touch(page, l === 'zh' ? '用手机拍' : 'Use your phone'); await page.locator('.phone img').waitFor() }],
  farewell: [{}, async (page, l) => { await exhibit(page, l); await touch(page, say[l].over); await page.locator('dialog').waitFor() }],
  away: [{}, async (page, _, fixture) => { await page.locator('.begin').waitFor(); await fixture.close(); await page.locator('.moment').waitFor() }],
  night: [{ venue: { time_zone: 'UTC', hours: [{ day: 'monday', open: '10:00', close: '10:01' }], closures: [] } }, async (page) => { await page.locator('.night .show img').first().waitFor(); await page.waitForTimeout(3_000) }],
  emergency: [{ emergency: { en: 'Please leave the building by the nearest exit.', zh: '请从最近的出口离开大楼。' } }, (page) => page.locator('.emergency').waitFor()],
  staff: [{ pin: '2580' }, async (page) => {
    const { width } = page.viewportSize()
    await page.locator('.begin').waitFor()
    await page.mouse.move(20, 20); await page.mouse.down(); await page.waitForTimeout(3_200); await page.mouse.up()
    await page.mouse.move(width - 20, 20); await page.mouse.down(); await page.mouse.up()
    for (const digit of '2580') await touch(page, digit)
    await page.locator('.pin .full').click(); await page.locator('.facts').waitFor()
  }],
}
const wanted = options.only?.split(',')
const taken = []
const onReal = ['attract', 'camera', 'exhibit', 'asked', 'passage']

for (const [shape, viewport] of Object.entries(screens)) {
  if (only.length > 0 && !only.includes(shape)) continue
  for (const language of shape === 'tablet' ? ['zh'] : ['en', 'zh']) {
    for (const [name, [script, go]] of Object.entries(shots)) {
      if (real ? !onReal.includes(name) : wanted && !wanted.includes(name)) continue
      const fixture = real ? null : await startFixture(script)
      const { page, close } = await open(browser, real ?? fixture.url, { viewport, reducedMotion: name === 'night' ? 'no-preference' : 'reduce' })
      try {
        await go(page, language, fixture)
        await page.evaluate(() => document.fonts.ready)
        await page.waitForTimeout(400)
      } catch (error) {
        console.error(`${shape} ${language} ${name}: ${error.message.split('\n')[0]}`)
      }
      const path = join(dir, `${shape}-${language}-${name}.png`)
      await page.screenshot({ path })
      taken.push({ shape, language, name, path })
      await close()
      if (name !== 'away') await fixture?.close()
    }
  }
}
if (options.sheets) await layOut(options.sheets)
await browser.close()

/** One sheet for each shape and language, small enough to be kept beside the documents. */
async function layOut(folder) {
  await mkdir(folder, { recursive: true })
  const sheets = new Map()
  for (const shot of taken) sheets.set(`${shot.shape}-${shot.language}`, [...(sheets.get(`${shot.shape}-${shot.language}`) ?? []), shot])
  for (const [sheet, shots] of sheets) {
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
