// Every state that the visitor's page can be in: how the fixture is scripted, and how a visitor gets there. The tests look at
// each for barriers and for what does not fit; screenshots.mjs photographs them for people to look at.

import { press, say } from './visitor.mjs'

const begin = (page, language) => page.getByRole('button', { name: say[language].begin, exact: true }).click()
const seen = (page) => page.locator('img.seen').waitFor()
const finished = (page, n = 1) => page.locator('article[data-status=done]').nth(n - 1).waitFor()
const touch = (page, name) => page.getByRole('button', { name, exact: true }).click()

const camera = async (page, l) => { await begin(page, l); await seen(page) }
const shutter = async (page, l) => { await camera(page, l); await page.locator('.shutter').click() }
const exhibit = async (page, l) => { await shutter(page, l); await finished(page) }
const tool = async (page, l, at) => { await exhibit(page, l); await page.locator('.tools button').nth(at).click(); await page.locator('dialog').waitFor() }
const list = async (page, l) => { await begin(page, l); await page.locator('.list li').first().waitFor() }
const plan = async (page, l) => { await tool(page, l, 3); await page.locator('.spot').first().waitFor() }
const set = async (page, l, on, larger = 0) => {
  await touch(page, say[l].comfort)
  for (let i = 0; i < larger; i++) await touch(page, say[l].larger)
  for (const name of on) await page.getByRole('switch', { name: say[l][name] }).click()
  await touch(page, say[l].done)
  await page.locator('dialog').waitFor({ state: 'detached' })
}
/** A hand in the corners that open the staff page. */
export async function staffDoor(page, hold = 3_050) {
  await page.locator('.begin, .tools').first().waitFor()
  // In the page, where the time between two touches is the page's own.
  await page.evaluate(async (hold) => {
    const touch = (type, x) => document.elementFromPoint(x, 20).dispatchEvent(new PointerEvent(type, { bubbles: true, cancelable: true, clientX: x, clientY: 20 }))
    touch('pointerdown', 20)
    await new Promise((resolve) => setTimeout(resolve, hold))
    touch('pointerup', 20)
    touch('click', 20)
    touch('pointerdown', innerWidth - 20)
    touch('pointerup', innerWidth - 20)
    touch('click', innerWidth - 20)
  }, hold)
}
const pin = async (page, digits) => {
  await staffDoor(page)
  for (const digit of digits) await touch(page, digit)
  await page.locator('.pin .full').click()
}

export const states = {
  attract: [{}, (page) => page.locator('.show img').first().waitFor()],
  camera: [{}, camera],
  still: [{ phone: true, quality: [{ steady: 0 }, { steady: 0.6 }] }, async (page, l) => { await camera(page, l); await page.getByText(l === 'zh' ? '请保持不动' : 'Hold still').waitFor() }],
  advised: [{ quality: [{ steady: 0 }, { steady: 0.5, advice: 'too_dark' }] }, async (page, l) => { await camera(page, l); await page.getByText(l === 'zh' ? '请让展品更亮一些再拍，或避开自己的影子。' : 'Try again with more light on the exhibit, or step out of your own shadow.').waitFor() }],
  looking: [{ photoDelay: 600_000 }, async (page, l) => { await shutter(page, l); await page.locator('.finder.busy').waitFor() }],
  'no-camera': [{ camera: 'alert' }, async (page, l) => { await begin(page, l); await page.locator('.shutter:disabled').waitFor() }],
  explaining: [{ ask: 'hang' }, async (page, l) => { await shutter(page, l); await page.locator('.growing').waitFor() }],
  exhibit: [{}, exhibit],
  two: [{ photo: 'two' }, exhibit],
  asked: [{}, async (page, l) => { await exhibit(page, l); await page.locator('.suggestions button').first().click(); await finished(page, 2) }],
  'other-language': [{}, async (page, l) => {
    await exhibit(page, l)
    await page.getByRole('textbox').fill(l === 'zh' ? 'What is the golden angle?' : '黄金角是什么？')
    await page.keyboard.press('Enter')
    await finished(page, 2)
  }],
  nothing: [{ ask: 'nothing' }, exhibit],
  stopped: [{ ask: 'hang' }, async (page, l) => { await shutter(page, l); await page.locator('.growing').waitFor(); await touch(page, l === 'zh' ? '停止' : 'Stop'); await page.locator('.trouble').waitFor() }],
  'not-answered': [{ ask: 'refuse' }, async (page, l) => { await shutter(page, l); await page.locator('.trouble').waitFor() }],
  passage: [{}, async (page, l) => { await exhibit(page, l); await page.locator('.mark').first().click(); await page.locator('mark').waitFor() }],
  choose: [{ photo: 'choose' }, async (page, l) => { await shutter(page, l); await page.locator('main ul').waitFor() }],
  unknown: [{ photo: 'unknown' }, async (page, l) => { await shutter(page, l); await page.locator('.ways .full').waitFor() }],
  dark: [{ photo: 'dark' }, async (page, l) => { await shutter(page, l); await page.locator('.ways .full').waitFor() }],
  refused: [{ photo: 'refuse' }, async (page, l) => { await shutter(page, l); await page.locator('.notice').waitFor() }],
  list: [{ camera: 'none' }, list],
  mistyped: [{ camera: 'none' }, async (page, l) => { await list(page, l); await page.getByRole('textbox').fill(l === 'zh' ? '飞艇' : 'philotaxis'); await page.locator('.list li').nth(3).waitFor({ state: 'detached' }) }],
  number: [{ camera: 'none' }, async (page, l) => { await list(page, l); await page.getByRole('tab').nth(1).click(); for (const digit of '301') await touch(page, digit) }],
  'no-number': [{ camera: 'none' }, async (page, l) => { await list(page, l); await page.getByRole('tab').nth(1).click(); await touch(page, '9') }],
  phone: [{ phone: true }, async (page, l) => { await camera(page, l); await touch(page, l === 'zh' ? '用手机拍' : 'Use your phone'); await page.locator('dialog img').waitFor() }],
  keyboard: [{}, async (page, l) => { await exhibit(page, l); await page.getByRole('textbox').click(); await press(page, l === 'zh' ? 'huangjin' : 'why') }],
  listening: [{ sentence: 30 }, async (page, l) => { await exhibit(page, l); await page.locator('.tools button').first().click(); await page.locator('.heard p').waitFor() }],
  chapters: [{}, (page, l) => tool(page, l, 1)],
  'compare-with': [{}, async (page, l) => { await tool(page, l, 2); await page.locator('dialog li button').first().waitFor() }],
  compare: [{}, async (page, l) => { await tool(page, l, 2); await page.locator('dialog li button').first().click(); await page.locator('.sides').waitFor() }],
  plan: [{}, plan],
  'walk-wish': [{}, async (page, l) => { await plan(page, l); await page.locator('.ways .full').click(); await page.getByRole('slider').waitFor() }],
  'no-walk': [{}, async (page, l) => { await plan(page, l); await page.locator('.ways .full').click(); await page.getByRole('slider').fill('10'); await page.locator('.ways .full').click(); await page.getByRole('alert').waitFor() }],
  walk: [{}, async (page, l) => { await plan(page, l); await page.locator('.ways .full').click(); await page.locator('.ways .full').click(); await page.locator('.walk li').first().waitFor() }],
  take: [{}, async (page, l) => { await tool(page, l, 4); await page.locator('dialog img').waitFor() }],
  'take-all': [{}, async (page, l) => {
    await tool(page, l, 1)
    await page.getByRole('dialog').getByRole('button', { name: l === 'zh' ? /规则 30/ : /Rule 30/ }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await finished(page)
    await page.locator('.tools button').nth(4).click()
    await page.locator('.which button').nth(1).click()
    await page.locator('.title').waitFor({ state: 'detached' })
    await page.locator('dialog img').waitFor()
  }],
  'pass-wish': [{ pass: true }, async (page, l) => { await tool(page, l, 4); await page.locator('.ways button').first().click(); await page.locator('.pass .ways').waitFor() }],
  pass: [{ pass: true }, async (page, l) => { await tool(page, l, 4); await page.locator('.ways button').first().click(); await page.locator('.pass .ways .full').click(); await page.locator('.pass img').waitFor() }],
  resume: [{ pass: true }, async (page, l) => { await camera(page, l); await touch(page, l === 'zh' ? '继续我的参观' : 'Go on with my visit'); await page.locator('.pass .keys').waitFor() }],
  level: [{}, (page, l) => tool(page, l, 5)],
  viewer: [{}, async (page, l) => { await exhibit(page, l); await page.locator('.reference').click(); await touch(page, say[l].nearer) }],
  comfort: [{}, async (page, l) => { await exhibit(page, l); await touch(page, say[l].comfort); await page.locator('dialog').waitFor() }],
  remembered: [{}, async (page, l) => { await exhibit(page, l); await touch(page, say[l].comfort); await page.locator('.more').click(); await page.locator('.remembered li').waitFor() }],
  large: [{}, async (page, l) => { await exhibit(page, l); await set(page, l, ['contrast'], 3) }],
  low: [{}, async (page, l) => { await exhibit(page, l); await set(page, l, ['low']) }],
  idle: [{ idleSeconds: 1 }, async (page, l) => { await begin(page, l); await page.locator('dialog').waitFor() }],
  farewell: [{}, async (page, l) => { await exhibit(page, l); await touch(page, say[l].over); await page.locator('dialog').waitFor() }],
  away: [{}, async (page, _, fixture) => { await page.locator('.begin').waitFor(); await fixture.close(); await page.locator('.moment').waitFor() }],
  night: [{ venue: { time_zone: 'UTC', hours: [{ day: 'monday', open: '10:00', close: '10:01' }], closures: [] } }, (page) => page.locator('.night .show img').first().waitFor()],
  'waits-for-its-hub': [{ house: { notice: { code: '428913', until: '2026-12-01T12:00:00Z', fingerprint: 'a1b2 c3d4 e5f6 0718' } } }, (page) => page.locator('.notice .code').waitFor()],
  emergency: [{ emergency: { en: 'Please leave the building by the nearest exit.', zh: '请从最近的出口离开大楼。' } }, (page) => page.locator('.emergency').waitFor()],
  'wrong-pin': [{ pin: '2580' }, async (page) => { await pin(page, '2581'); await page.getByRole('alert').filter({ hasText: 'PIN' }).waitFor() }],
  staff: [{ pin: '2580' }, async (page) => { await pin(page, '2580'); await page.locator('.facts').waitFor() }],
}

/** The page speaks all its languages at once in these. */
export const bilingual = ['attract', 'away', 'night', 'waits-for-its-hub', 'emergency', 'wrong-pin', 'staff']

/** What the browser says to the console in these states. */
export const expectedErrors = [/ERR_/, /40[34]/, /429/, /503/]
