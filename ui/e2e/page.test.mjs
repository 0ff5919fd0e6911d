// Tests of the visitor's page before the scripted server: every screen and every trouble, in Chromium.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFixture } from './fixture/server.mjs'
import { open, screens } from './harness.mjs'
import { answered, button, explained, heading, photograph, say, theBrowser, useBrowser, visit, waitUntil } from './visitor.mjs'

useBrowser()

visit('photograph, read, open a source, ask, start over', {}, async (page, fixture) => {
  assert.equal(await page.locator('html').getAttribute('lang'), 'en')
  await photograph(page)

  await heading(page, 'Phyllotaxis').waitFor()
  await page.locator('[data-outline] polygon.line').waitFor({ state: 'attached' })
  await answered(page, 1).waitFor()
  assert.match(await answered(page, 1).innerText(), /golden angle, about 137\.5 degrees/)
  assert.doesNotMatch(await answered(page, 1).innerText(), /\[\d/)
  assert.equal(fixture.streams.size, 0, 'the camera stream is closed')

  await button(page, 'Source 2').click()
  const sheet = page.getByRole('dialog')
  await sheet.locator('mark').waitFor()
  assert.match(await sheet.locator('mark').innerText(), /^The eye finds spirals in it/)
  assert.match(await sheet.innerText(), /The gallery’s text on “Phyllotaxis”/)
  assert.doesNotMatch(await sheet.innerText(), /\.md/)
  assert.match(await sheet.innerText(), /doi\.org\/10\.1016/)
  assert.equal(await page.locator('a').count(), 0, 'no link leads anywhere')
  await sheet.getByRole('button', { name: 'Close' }).first().click()
  await sheet.waitFor({ state: 'detached' })

  await button(page, 'Why do plants do this?').click()
  await answered(page, 2).waitFor()
  const [question, area] = await Promise.all([heading(page, 'Your question: Why do plants do this?').boundingBox(), page.getByRole('log').boundingBox()])
  assert.ok(Math.abs(question.y - area.y) < 80, `the newest question is at the top of the view: ${question.y} in ${area.y}`)

  await page.getByRole('textbox').fill('What is phyllotaxis?')
  await button(page, 'Ask').click()
  await answered(page, 3).waitFor()
  assert.equal(await page.getByRole('textbox').inputValue(), '')

  await button(page, 'Start over').click()
  await button(page, 'Touch to begin').waitFor()
  assert.equal(fixture.visits.size, 0, 'the visit is over for the server')
  const left = await page.evaluate(() => ({
    html: document.body.innerHTML,
    stores: localStorage.length + sessionStorage.length,
    cookies: document.cookie,
  }))
  assert.doesNotMatch(left.html, /What is phyllotaxis|137\.5|\/photo\//)
  assert.deepEqual([left.stores, left.cookies], [0, ''])
  assert.deepEqual(await page.evaluate(async () => [await caches.keys(), await indexedDB.databases()]), [[], []])
})

visit('in Chinese', {}, async (page) => {
  await button(page, '轻触开始').click()
  await page.locator('img.seen').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'zh-Hans')
  await button(page, '拍照').click()
  await heading(page, '叶序').waitFor()
  await answered(page, 1).waitFor()
  await button(page, '出处 1').click()
  await page.getByRole('dialog').getByText('每一粒种子都比前一粒转过约').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: '关闭' }).first().click()
  await button(page, '植物为何如此？').click()
  await answered(page, 2).waitFor()
  await button(page, '重新开始').click()
  await button(page, '轻触开始').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'en', 'the language is the default again')
})

visit('another language in the middle', {}, async (page, fixture) => {
  await photograph(page)
  await answered(page, 1).waitFor()
  await button(page, '中文').click()
  await heading(page, '叶序').waitFor()
  await page.getByText('每一粒种子都比前一粒转过约').waitFor()
  await answered(page, 1).waitFor()
  assert.equal(await page.getByText('Each seed is turned').count(), 0)
  assert.equal(fixture.called('/visit/start').length, 1, 'the visit is the same')
  assert.deepEqual(fixture.called('/visit/language').map((call) => call.body.language), ['zh'])
  assert.ok(await page.locator('.plane img').evaluate((img) => img.complete && img.naturalWidth > 0), 'the photo is still there')
})

visit('is it one of these?', { photo: 'choose' }, async (page, fixture) => {
  await photograph(page)
  await heading(page, 'Is it one of these?').waitFor()
  assert.equal(await page.locator('main li').count(), 3)
  await page.getByRole('button', { name: /Moiré Rings/ }).click()
  await heading(page, 'Moiré Rings').waitFor()
  assert.deepEqual(fixture.called('/visit/exhibit').map((call) => call.body.exhibit), ['moire'])
  await answered(page, 1).waitFor()
})

visit('two works on one photo', { photo: 'two' }, async (page, fixture) => {
  await explained(page)
  assert.equal(await page.locator('h1').innerText(), 'Phyllotaxis')
  await button(page, 'Also in your photo: Moiré Rings').click()
  await heading(page, 'Moiré Rings').waitFor()
  await answered(page, 1).waitFor()
  assert.deepEqual(fixture.called('/visit/exhibit').map((call) => call.body.exhibit), ['moire'])
  assert.match(await page.locator('polygon.line').getAttribute('points'), /^64,192/, 'it is outlined on the same photo')
  await button(page, '中文').click()
  await button(page, '照片里还有：叶序').click()
  await heading(page, '叶序').waitFor()
  assert.equal(fixture.called('/photo').length, 1)
})

visit('an answer in another language than the page', { sentence: 30 }, async (page, fixture) => {
  await explained(page)
  await page.getByRole('textbox').fill('黄金角是什么？')
  await page.keyboard.press('Enter')
  await answered(page, 2).waitFor()
  const answer = answered(page, 2)
  assert.equal(await answer.locator('p[data-read]').first().getAttribute('lang'), 'zh-Hans')
  assert.match(await answer.locator('h2').innerText(), /^Your question:\s+黄金角是什么？$/)
  assert.equal(await answer.locator('li').first().getAttribute('lang'), 'zh-Hans')
  assert.equal(await page.locator('.suggestions button').first().getAttribute('lang'), 'zh-Hans')
  assert.equal(await answered(page, 1).locator('[lang]').count(), 0, 'the explanation is in the language of the page')
  // Everything around it stays as it was.
  await answer.getByText('In the gallery’s own words').waitFor()
  await button(page, 'Start over').waitFor()
  assert.equal(await page.locator('html').getAttribute('lang'), 'en')
  await button(page, say.en.listen).click()
  await waitUntil(() => fixture.called('/speech').length > 0, 'it is read aloud')
  assert.ok(fixture.called('/speech').every((call) => call.language === 'zh'), 'by a voice of its language')
  await button(page, say.en.stopReading).first().click()
  await answer.locator('.mark').first().click()
  const sheet = page.getByRole('dialog', { name: 'Where this comes from' })
  await sheet.locator('mark').waitFor()
  assert.equal(await sheet.locator('[data-read]').getAttribute('lang'), 'zh-Hans')
  await sheet.getByText('Document', { exact: true }).waitFor()
})

visit('not in the collection', { photo: 'unknown' }, async (page, fixture) => {
  await photograph(page)
  await heading(page, 'We do not know this one').waitFor()
  assert.equal(fixture.called('/ask').length, 0)
  await button(page, 'Enter a number').click()
  await button(page, '9').click()
  await page.getByText('No exhibit has the number 9.').waitFor()
  await button(page, 'Clear').click()
  for (const digit of '403') await button(page, digit).click()
  await page.getByRole('button', { name: /Moiré Rings/ }).click()
  await heading(page, 'Moiré Rings').waitFor()
})

visit('too dark', { photo: 'dark' }, async (page, fixture) => {
  await photograph(page)
  await heading(page, 'It is a little too dark').waitFor()
  fixture.script({ photo: 'match' })
  await button(page, 'Photograph again').click()
  await button(page, 'Take the photo').click()
  await heading(page, 'Phyllotaxis').waitFor()
})

visit('no camera: the list comes first, and finds by search', { camera: 'none' }, async (page) => {
  await button(page, 'Touch to begin').click()
  await heading(page, 'Choose an exhibit').waitFor()
  assert.equal(await page.locator('.list li').count(), 4)
  await page.getByRole('textbox', { name: 'Search' }).fill('moire ring')
  assert.equal(await page.locator('.list li').count(), 1)
  await page.getByRole('textbox', { name: 'Search' }).fill('zeppelin')
  await page.getByText('Nothing here is called “zeppelin”.').waitFor()
  await button(page, 'Clear').click()
  await page.getByRole('button', { name: /Truchet/ }).click()
  await heading(page, 'Truchet Tiles').waitFor()
  await answered(page, 1).waitFor()
})

visit('a camera that is away comes back by itself', { camera: 'alert' }, async (page, fixture) => {
  await button(page, 'Touch to begin').click()
  await page.getByText('The camera is not answering just now.').waitFor()
  assert.ok(await button(page, 'Take the photo').isDisabled())
  fixture.script({ camera: 'ready' })
  await page.locator('img.seen').waitFor()
  await page.waitForFunction(() => !document.querySelector('.shutter').disabled)
})

visit('a refused photo is said in the server’s words', { photo: 'refuse' }, async (page, fixture) => {
  await photograph(page)
  await page.getByText('Another photo is still being looked at.').waitFor()
  await button(page, 'All right').click()
  fixture.script({ photo: 'match' })
  await button(page, 'Take the photo').click()
  await heading(page, 'Phyllotaxis').waitFor()
}, { expected: [/503/] })

visit('a refused question is said in the server’s words and asked again', { ask: 'refuse' }, async (page, fixture) => {
  await photograph(page)
  await page.getByText('Too many questions at once. Please ask again in a moment.').waitFor()
  fixture.script({ ask: 'answer' })
  await button(page, 'Try again').click()
  await answered(page, 1).waitFor()
}, { expected: [/429/] })

visit('nothing in the gallery’s texts', {}, async (page, fixture) => {
  await photograph(page)
  await answered(page, 1).waitFor()
  fixture.script({ ask: 'nothing' })
  await page.getByRole('textbox').fill('Who won the cup?')
  await page.keyboard.press('Enter')
  await answered(page, 2).waitFor()
  assert.match(await answered(page, 2).innerText(), /say nothing about that/)
  assert.equal(await answered(page, 2).getByRole('button', { name: /^Source/ }).count(), 0, 'no sources are claimed')
})

visit('words that are taken back are not shown', { ask: 'reset' }, async (page) => {
  await photograph(page)
  await answered(page, 1).waitFor()
  assert.doesNotMatch(await answered(page, 1).innerText(), /taken back/)
})

visit('stop', { ask: 'hang' }, async (page, fixture) => {
  await photograph(page)
  await page.locator('.growing').waitFor()
  await button(page, 'Stop').click()
  await page.getByText('Stopped here.').waitFor()
  assert.match(await page.locator('article').innerText(), /Each seed is turned/)
  await waitUntil(() => fixture.called('/ask', 'GONE').length === 1, 'the server hears of it')
})

visit('an answer that breaks off is taken up', { ask: 'break' }, async (page, fixture) => {
  await photograph(page)
  await answered(page, 1).waitFor()
  assert.equal(fixture.called('/ask', 'POST').length, 2)
  assert.equal(await page.locator('article').count(), 1)
}, { expected: [/ERR_INCOMPLETE_CHUNKED_ENCODING/] })

visit('a visit that the server forgot goes on', {}, async (page, fixture) => {
  await photograph(page)
  await answered(page, 1).waitFor()
  fixture.script({ forgetful: true })
  await button(page, 'Why do plants do this?').click()
  await answered(page, 2).waitFor()
  assert.equal(fixture.called('/visit/start').length, 2)
}, { expected: [/404/] })

const away = [/ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_INCOMPLETE|ERR_EMPTY/, /404/]

test('the server goes and comes back between two questions', { timeout: 120_000 }, async () => {
  const first = await startFixture()
  const opened = await open(theBrowser(), first.url, { expected: away })
  const { page } = opened
  await photograph(page)
  await answered(page, 1).waitFor()
  await first.close()
  // Without a touch: the page hears by itself that the server is gone.
  await heading(page, 'One moment, please').waitFor()
  const second = await startFixture({}, first.port)
  try {
    await heading(page, 'One moment, please').waitFor({ state: 'detached' })
    await heading(page, 'Phyllotaxis').waitFor()
    await button(page, 'Why do plants do this?').click()
    await answered(page, 2).waitFor()
    opened.calm()
  } finally {
    await opened.close()
    await second.close()
  }
})

test('the server goes during an answer and comes back', { timeout: 120_000 }, async () => {
  const first = await startFixture({ ask: 'hang' })
  const opened = await open(theBrowser(), first.url, { expected: away })
  const { page } = opened
  await photograph(page)
  await page.locator('.growing').waitFor()
  await first.close()
  await heading(page, 'One moment, please').waitFor()
  const second = await startFixture({}, first.port)
  try {
    await heading(page, 'One moment, please').waitFor({ state: 'detached' })
    await answered(page, 1).waitFor()
    await heading(page, 'Phyllotaxis').waitFor()
    assert.equal(await page.locator('article').count(), 1)
    opened.calm()
  } finally {
    await opened.close()
    await second.close()
  }
})

visit('the idle visitor is asked, may stay, and is forgotten', {}, async (page, fixture) => {
  await page.clock.install()
  await photograph(page)
  await answered(page, 1).waitFor()
  await page.clock.fastForward(59_000)
  assert.equal(await page.getByRole('dialog').count(), 0)
  await page.clock.fastForward(2_000)
  await page.getByRole('dialog', { name: 'Are you still there?' }).waitFor()
  await button(page, 'I’m still here').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await heading(page, 'Phyllotaxis').waitFor()

  await page.clock.fastForward(61_000)
  await page.getByRole('dialog', { name: 'Are you still there?' }).waitFor()
  await page.clock.runFor(21_000)
  await button(page, 'Touch to begin').waitFor()
  await waitUntil(() => fixture.visits.size === 0, 'the visit is over for the server')
}, { own: true })

visit('the attract loop shows one picture after the other', {}, async (page) => {
  const first = await page.locator('.show img').last().getAttribute('src')
  await page.clock.install()
  await page.clock.runFor(13_000)
  await page.waitForFunction((src) => document.querySelector('.show img:last-child').getAttribute('src') !== src, first)
  await page.clock.runFor(60_000)
  assert.ok((await page.locator('.show img').count()) <= 2, 'no more than two pictures are kept')
}, { own: true, reducedMotion: 'no-preference' })

visit('a touch anywhere begins', {}, async (page) => {
  await page.locator('.show img').first().waitFor()
  await page.touchscreen.tap(300, 300)
  await heading(page, 'Photograph an exhibit').waitFor()
})

visit('there is no way out by touch, mouse or key', {}, async (page) => {
  await photograph(page)
  await answered(page, 1).waitFor()
  const prevented = await page.evaluate(() => {
    const on = document.querySelector('article p')
    const fire = (event) => !on.dispatchEvent(event)
    const options = { bubbles: true, cancelable: true }
    return {
      menu: fire(new MouseEvent('contextmenu', options)),
      drag: fire(new DragEvent('dragstart', options)),
      select: fire(new Event('selectstart', options)),
      zoom: fire(new WheelEvent('wheel', { ...options, ctrlKey: true })),
      print: fire(new KeyboardEvent('keydown', { ...options, key: 'p', ctrlKey: true })),
      reload: fire(new KeyboardEvent('keydown', { ...options, key: 'F5' })),
      back: fire(new KeyboardEvent('keydown', { ...options, key: 'ArrowLeft', altKey: true })),
      scroll: fire(new WheelEvent('wheel', options)),
    }
  })
  assert.deepEqual(prevented, { menu: true, drag: true, select: true, zoom: true, print: true, reload: true, back: true, scroll: false })
  const devtools = await page.context().newCDPSession(page)
  for (const [x, y] of [[540, 300], [540, 1100], [200, 1880]]) {
    await devtools.send('Input.synthesizePinchGesture', { x, y, scaleFactor: 2, gestureSourceType: 'touch' })
  }
  assert.equal(await page.evaluate(() => visualViewport.scale), 1, 'pinching does not zoom the page')
  await page.mouse.wheel(0, 900)
  assert.deepEqual(await page.evaluate(() => [scrollX, scrollY, document.scrollingElement.scrollTop]), [0, 0, 0])
})
