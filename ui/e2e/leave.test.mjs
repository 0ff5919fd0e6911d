// Leaving: by hand, by walking away, and what the next visitor finds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFixture } from './fixture/server.mjs'
import { open, screens } from './harness.mjs'
import { soak } from './visits.mjs'
import { answered, button, explained, press, say, theBrowser, useBrowser, visit, waitUntil } from './visitor.mjs'

useBrowser()

for (const [language, viewport] of Object.entries({ en: screens.portrait, zh: screens.landscape })) {
  visit(`who leaves is thanked and may answer two questions: ${language}`, {}, async (page, fixture) => {
    await explained(page, language)
    await button(page, say[language].over).click()
    const card = page.getByRole('dialog', { name: language === 'en' ? 'Thank you for coming' : '感谢您的到来' })
    await card.waitFor()
    assert.equal(fixture.visits.size, 0, 'the visit is over before')
    assert.equal(await page.locator('html').getAttribute('lang'), 'en', 'all but the card is as usual')
    await card.getByRole('button', { name: language === 'en' ? 'Partly' : '部分' }).first().click()
    await card.getByRole('button', { name: language === 'en' ? 'Yes' : '是' }).nth(1).click()
    await card.waitFor({ state: 'detached' })
    await waitUntil(() => fixture.called('/feedback').length === 2, 'both answers')
    assert.deepEqual(fixture.called('/feedback').map((call) => call.body), [
      { kind: 'survey', language, found: 'partly' },
      { kind: 'survey', language, easy: 'yes' },
    ])
  }, { viewport })
}

visit('the card goes away by itself, and by a touch beside it', {}, async (page) => {
  await page.clock.install()
  await explained(page)
  await button(page, say.en.over).click()
  await page.getByRole('dialog').waitFor()
  await page.clock.runFor(21_000)
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await button(page, say.en.begin).click()
  await page.locator('img.seen').waitFor()
  await button(page, say.en.over).click()
  await button(page, say.en.begin).waitFor()
  assert.equal(await page.getByRole('dialog').count(), 0, 'nobody is thanked who has seen nothing')
}, { own: true })

visit('whether an answer helped', {}, async (page, fixture) => {
  await explained(page)
  await page.getByRole('group', { name: 'Was this helpful?' }).getByRole('button', { name: 'No' }).click()
  await page.getByText('Thank you.').waitFor()
  await waitUntil(() => fixture.called('/feedback').length === 1, 'it is told')
  const { visit: id, ...said } = fixture.called('/feedback')[0].body
  assert.ok(id)
  assert.deepEqual(said, { kind: 'answer', exhibit: 'phyllotaxis', sources: ['phyllotaxis/en/1#1', 'phyllotaxis/en/1#2'], helpful: false })
})

visit('whoever stays may say so ten times and more', { idleSeconds: 60 }, async (page) => {
  await page.clock.install()
  await explained(page)
  for (let i = 0; i < 12; i++) {
    await page.clock.fastForward(60_500)
    await button(page, 'I’m still here').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  assert.equal(await answered(page, 1).count(), 1)
  await page.clock.fastForward(60_500)
  await page.getByRole('dialog').waitFor()
  await page.clock.runFor(19_000)
  assert.equal(await page.getByRole('dialog').count(), 1, 'there are 20 seconds to answer')
}, { own: true })

// What one visitor leaves, as the next one might look for it with everything a browser has.
test('the next visitor recovers nothing', { timeout: 120_000 }, async () => {
  const fixture = await startFixture()
  const secret = 'geheimnis'
  const opened = await open(theBrowser(), fixture.url, { serviceWorkers: 'allow', expected: [/404/] })
  const { page } = opened
  try {
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
    await explained(page, 'zh')
    await button(page, say.zh.comfort).click()
    await button(page, say.zh.larger).click()
    await button(page, say.zh.done).click()
    await page.getByRole('textbox').click()
    await press(page, ['{language}', ...secret, '{enter}'])
    await answered(page, 2).waitFor()
    const photo = await page.locator('.plane img').getAttribute('src')
    const before = await page.evaluate(() => history.length)
    await button(page, say.zh.over).click()
    await button(page, say.zh.close).click()
    await button(page, say.en.begin).waitFor()

    const devtools = await page.context().newCDPSession(page)
    const left = await page.evaluate(async () => {
      const kept = []
      for (const name of await caches.keys()) for (const request of await (await caches.open(name)).keys()) kept.push(new URL(request.url).pathname)
      return {
        html: document.documentElement.outerHTML,
        storage: JSON.stringify({ ...localStorage, ...sessionStorage }),
        cookies: document.cookie,
        databases: await indexedDB.databases(),
        fields: [...document.querySelectorAll('input')].map((input) => input.value),
        kept,
        history: history.length,
        state: history.state,
        selection: String(getSelection()),
        highlights: CSS.highlights.size,
        focus: document.activeElement?.tagName,
        keyboard: Object.keys(window.SimpleKeyboardInstances ?? {}),
      }
    })
    assert.doesNotMatch(left.html, new RegExp(`${secret}|/photo/|叶序|data-contrast`))
    assert.deepEqual([left.storage, left.cookies, left.databases, left.selection, left.highlights], ['{}', '', [], '', 0])
    assert.ok(left.kept.every((path) => path === '/' || path.startsWith('/assets/')), `only the page itself is kept: ${left.kept}`)
    assert.ok(left.kept.includes('/'))
    assert.deepEqual([left.history, left.state], [before, null])
    assert.deepEqual(left.keyboard, [])
    const { cookies } = await devtools.send('Network.getAllCookies')
    assert.deepEqual(cookies, [])
    // By HTTP, with the address that the first visitor's page had.
    const status = await page.evaluate((address) => fetch(address).then((r) => r.status), photo)
    assert.equal(status, 404)
    // What is still in the page's memory.
    await devtools.send('HeapProfiler.collectGarbage')
    const found = await heapHolds(devtools, secret)
    assert.equal(found, false, 'the question is not in memory')
    await page.goBack()
    await page.goForward()
    await button(page, say.en.begin).waitFor()
    assert.doesNotMatch(await page.content(), new RegExp(secret))
    opened.calm()
  } finally {
    await opened.close()
    await fixture.close()
  }
})

/** Looks for a text among all strings of the page's memory. */
async function heapHolds(devtools, text) {
  let snapshot = ''
  devtools.on('HeapProfiler.addHeapSnapshotChunk', ({ chunk }) => (snapshot += chunk))
  await devtools.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  return JSON.parse(snapshot).strings.some((string) => string.includes(text))
}

test('forty visits leave the page as it was', { timeout: 170_000 }, async () => {
  const fixture = await startFixture()
  try {
    const { heaps, grown } = await soak(theBrowser(), fixture, 40)
    console.log(`heap ${heaps[0].toFixed(1)} → ${heaps.at(-1).toFixed(2)} MiB`)
    assert.ok(grown < 0.1, `the page has grown by ${(grown * 100).toFixed(1)} %`)
  } finally {
    await fixture.close()
  }
})
