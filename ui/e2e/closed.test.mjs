// What is over everything: a server that is away, staff, an emergency; and the look by the hour.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startFixture } from './fixture/server.mjs'
import { open, screens } from './harness.mjs'
import { staffDoor } from './states.mjs'
import { answered, button, explained, heading, say, theBrowser, useBrowser, visit } from './visitor.mjs'

useBrowser()

test('a browser that starts while the server is away waits for it', { timeout: 120_000 }, async () => {
  const first = await startFixture()
  const opened = await open(theBrowser(), first.url, { serviceWorkers: 'allow', expected: [/ERR_/] })
  const { page } = opened
  let second
  try {
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null)
    await button(page, say.en.begin).waitFor()
    await page.reload() // the page's files are kept from here on
    await button(page, say.en.begin).waitFor()
    await first.close()
    await heading(page, 'One moment, please').waitFor()
    await page.reload()
    await heading(page, 'One moment, please').waitFor()
    await heading(page, '请稍候片刻').waitFor()
    second = await startFixture({}, first.port)
    await button(page, say.en.begin).waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    opened.calm()
  } finally {
    await opened.close()
    await second?.close()
  }
})

test('a server that goes is noticed at once, and the visit goes on', { timeout: 120_000 }, async () => {
  const first = await startFixture()
  const opened = await open(theBrowser(), first.url, { expected: [/ERR_/, /404/] })
  const { page } = opened
  let second
  try {
    await explained(page)
    await first.close()
    await heading(page, 'One moment, please').waitFor({ timeout: 3_000 })
    second = await startFixture({}, first.port)
    await heading(page, 'One moment, please').waitFor({ state: 'detached' })
    await heading(page, 'Phyllotaxis').waitFor()
    opened.calm()
  } finally {
    await opened.close()
    await second?.close()
  }
})

for (const [language, viewport] of Object.entries({ en: screens.portrait, zh: screens.landscape })) {
  const text = { en: 'Please leave the building.', zh: '请离开大楼。', fr: 'Veuillez quitter le bâtiment.' }
  visit(`an emergency covers everything, and goes: ${language}`, {}, async (page, fixture) => {
    await page.clock.install()
    await explained(page, language)
    await button(page, language === 'en' ? 'Read on' : '继续阅读').click()
    fixture.script({ emergency: text })
    await heading(page, text[language]).waitFor()
    for (const says of Object.values(text)) await page.getByText(says).waitFor()
    assert.equal(await page.getByRole('dialog').count(), 1)
    assert.equal(await page.getByRole('dialog').getByRole('button').count(), 0, 'there is nothing else to do')
    await page.keyboard.press('Escape')
    await page.clock.fastForward(80_000) // an idle visitor would be asked, and forgotten
    assert.equal(await page.getByRole('dialog').count(), 1)
    fixture.script({ emergency: null })
    await page.getByText(text.fr).waitFor({ state: 'detached' })
  }, { own: true, viewport })
}

visit('the house dims the picture, and not an emergency', { house: { brightness: 40 } }, async (page, fixture) => {
  // Waits: where motion is reduced, every change of a style takes a moment.
  const filtered = (what, by) => page.waitForFunction(([what, by]) => getComputedStyle(document.querySelector(what)).filter === by, [what, by])
  await explained(page)
  await filtered('#app > .page', 'brightness(0.52)')
  await button(page, 'Read on').click()
  await filtered('dialog', 'brightness(0.52)') // which lies above the page
  fixture.script({ emergency: { en: 'Please leave the building.' } })
  await heading(page, 'Please leave the building.').waitFor()
  await filtered('dialog', 'none')
  fixture.script({ emergency: null })
  await filtered('#app > .page', 'brightness(0.52)')
  fixture.script({ house: { brightness: 100 } })
  await filtered('#app > .page', 'none')
}, { own: true })

visit('a display that no longer follows is loaded anew', {}, async (page) => {
  await page.clock.install()
  await explained(page)
  await button(page, 'Read on').click()
  await page.getByRole('dialog').waitFor()
  for (let i = 0; i < 5; i++) await page.clock.runFor(10_000)
  assert.equal(await page.getByRole('dialog').count(), 1, 'a display that follows is left alone')
  await page.getByRole('dialog').evaluate((dialog) => {
    dialog.setAttribute = () => {} // as if the frame had forgotten this part
  })
  await page.clock.runFor(41_000)
  await button(page, say.en.begin).waitFor()
}, { own: true, expected: [/.*/] })

visit('staff see how the kiosk is', { pin: '2580' }, async (page, fixture) => {
  await button(page, say.en.begin).waitFor()
  await staffDoor(page)
  const card = page.getByRole('dialog', { name: 'Staff' })
  await card.waitFor()
  for (const digit of '2581') await card.getByRole('button', { name: digit, exact: true }).click()
  await card.getByRole('button', { name: 'Open' }).click()
  await card.getByText('That is not the PIN').waitFor()
  for (const digit of '2580') await card.getByRole('button', { name: digit, exact: true }).click()
  await card.getByRole('button', { name: 'Open' }).click()
  await page.getByText('north-wing / k1').waitFor()
  assert.match(await page.getByRole('dialog').innerText(), /Link to the hub\s+connected[\s\S]*21\.0 GiB/)
  assert.doesNotMatch(await page.content(), /2580/)
  await button(page, 'Close').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await button(page, say.en.begin).waitFor()
  assert.equal(fixture.called('/visit/start').length, 0, 'the corners did not begin a visit')
}, { expected: [/403/] })

visit('a visitor who touches the corners finds nothing', { pin: '2580' }, async (page) => {
  await explained(page)
  const { width } = page.viewportSize()
  for (let i = 0; i < 12; i++) {
    await page.mouse.click(15, 15)
    await page.mouse.click(width - 15, 15)
  }
  assert.equal(await page.getByRole('dialog').count(), 0)
})

visit('without a PIN there is no door', {}, async (page) => {
  await explained(page)
  await staffDoor(page)
  assert.equal(await page.getByRole('dialog').count(), 0)
})

const week = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
visit('by day and by night', { venue: { time_zone: 'Asia/Shanghai', hours: week.map((day) => ({ day, open: '10:00', close: '18:00' })), closures: [] } }, async (page) => {
  await page.clock.setFixedTime(new Date('2026-12-01T12:00:00Z')) // 20:00 in Shanghai
  await page.reload()
  await page.getByText('Closed now').waitFor()
  await page.getByText('Open again Wednesday at 10:00').waitFor()
  await page.getByText('星期三 10:00 开馆').waitFor()
  await page.clock.setFixedTime(new Date('2026-12-01T03:00:00Z'))
  await page.reload()
  await heading(page, 'One angle, turned again and again, fills a sunflower.').waitFor()
  assert.equal(await page.getByText('Closed now').count(), 0)
}, { own: true })

visit('the first touch', {}, async (page) => {
  await page.locator('.show img').first().waitFor()
  // From the touch to the first frame with the next screen, as the page itself measures it.
  const took = await page.evaluate(
    () =>
      new Promise((resolve) => {
        document.querySelector('.begin button').addEventListener('pointerdown', (touch) => {
          new MutationObserver((_, observer) => {
            if (!document.querySelector('.shutter')) return
            observer.disconnect()
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - touch.timeStamp)))
          }).observe(document.body, { childList: true, subtree: true })
        })
        document.querySelector('.begin button').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true }))
        document.querySelector('.begin button').click()
      }),
  )
  console.log(`first touch to the next screen: ${Math.round(took)} ms`)
  assert.ok(took < 5_000, 'it opens')
  await page.locator('img.seen').waitFor()
  assert.equal(await answered(page, 1).count(), 0)
})
