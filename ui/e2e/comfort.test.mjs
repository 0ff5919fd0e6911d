// What a visitor may set for themselves, and that nothing of it stays.

import assert from 'node:assert/strict'
import { screens } from './harness.mjs'
import { answered, button, explained, misfits, noBarriers, say, useBrowser, visit } from './visitor.mjs'

useBrowser()

const settings = (page) =>
  page.evaluate(() => {
    const root = document.documentElement
    return { size: root.style.getPropertyValue('--size'), attributes: root.getAttributeNames().filter((name) => name.startsWith('data-')), lang: root.lang }
  })
const usual = { size: '1', attributes: [], lang: 'en' }

async function set(page, language, { larger = 0, on = [] }) {
  await button(page, say[language].comfort).click()
  for (let i = 0; i < larger; i++) await button(page, say[language].larger).click()
  for (const name of on) await page.getByRole('switch', { name: say[language][name] }).click()
  await button(page, say[language].done).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

for (const language of ['en', 'zh']) {
  visit(`text twice as large, and as before for the next visitor: ${language}`, {}, async (page) => {
    await explained(page, language)
    const size = () => page.locator('article p').first().evaluate((p) => parseFloat(getComputedStyle(p).fontSize))
    const before = await size()
    await set(page, language, { larger: 3, on: ['contrast', 'still'] })
    assert.ok(Math.abs((await size()) / before - 2) < 0.02, `${before} grew to ${await size()}`)
    assert.deepEqual((await settings(page)).attributes, ['data-contrast', 'data-still'])
    await button(page, say[language].over).click()
    await button(page, say.en.begin).waitFor()
    assert.deepEqual(await settings(page), usual)
  })
}

visit('the largest text and the strongest contrast leave room to read', {}, async (page) => {
  await explained(page)
  await set(page, 'en', { larger: 3, on: ['contrast'] })
  for (const viewport of Object.values(screens)) {
    await page.setViewportSize(viewport)
    assert.deepEqual(await misfits(page), [])
    const log = await page.getByRole('log').evaluate((el) => el.getBoundingClientRect().height)
    assert.ok(log > 130, `there is room to read: ${log}`)
  }
  await button(page, say.en.comfort).click()
  for (const viewport of Object.values(screens)) {
    await page.setViewportSize(viewport)
    assert.deepEqual(await misfits(page), [])
  }
  await noBarriers(page, ['color-contrast-enhanced'])
})

for (const [shape, viewport] of Object.entries(screens)) {
  visit(`all controls within reach: ${shape}`, { photo: 'choose' }, async (page, fixture) => {
    await button(page, say.en.begin).click()
    await page.locator('img.seen').waitFor()
    await set(page, 'en', { on: ['low'] })
    await within(page, 'camera')
    await button(page, say.en.shutter).click()
    await page.locator('main li').first().waitFor()
    await within(page, 'choose')
    fixture.script({ photo: 'match' })
    await button(page, 'Photograph again').click()
    await button(page, say.en.shutter).click()
    await answered(page, 1).waitFor()
    await within(page, 'exhibit')
    assert.deepEqual(await misfits(page), [])
    const log = await page.getByRole('log').evaluate((el) => el.getBoundingClientRect().height)
    assert.ok(log > 130, `there is room to read: ${log}`)
    for (const opener of ['Source 1', 'Read on', 'Compare', 'Plan', 'Take along', 'For everyone', say.en.comfort]) {
      await button(page, opener).click()
      await page.getByRole('dialog').waitFor()
      await within(page, opener)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await button(page, 'Not this one?').click()
    await page.locator('.list li').first().waitFor()
    await within(page, 'list')
    await page.getByRole('tab', { name: 'Number' }).click()
    await within(page, 'number')
  }, { viewport })
}

/** Every control that can be touched is in the lower half, a little above it at most. */
async function within(page, where) {
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running' || a.effect.getTiming().iterations === Infinity))
  const above = await page.evaluate(() => {
    const top = [...document.querySelectorAll('dialog[open]')].at(-1)
    return [...(top ?? document).querySelectorAll('button, input')]
      .filter((control) => control.checkVisibility() && !control.disabled && !control.closest('.reference, .whole'))
      .map((control) => ({ name: control.getAttribute('aria-label') ?? control.innerText, box: control.getBoundingClientRect() }))
      .filter(({ box }) => box.top + box.height / 2 < innerHeight / 2 - 8)
      .map(({ name, box }) => `${name} at ${Math.round(box.top)}`)
  })
  assert.deepEqual(above, [], where)
}

visit('on a large screen, targets are 20 mm at least', {}, async (page) => {
  await explained(page)
  // 1080 × 1920 on 32 inches: 0.369 mm for a pixel.
  assert.deepEqual(await misfits(page, 20 / 0.369), [])
})

for (const [shape, viewport] of Object.entries({ portrait: screens.portrait, landscape: screens.landscape })) {
  visit(`written from right to left: ${shape}`, {}, async (page) => {
    await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
    await explained(page)
    assert.deepEqual(await misfits(page), [])
    const sides = await page.evaluate(() => {
      const middle = (selector) => {
        const box = document.querySelector(selector).getBoundingClientRect()
        return (box.left + box.right) / 2 / innerWidth
      }
      return { over: middle('nav > button'), send: middle('form [type=submit]'), picture: middle('.look') }
    })
    assert.ok(sides.send < sides.over, `start over is where a line begins: ${JSON.stringify(sides)}`)
    if (shape === 'landscape') assert.ok(sides.picture > 0.5, 'the picture comes first')
    await button(page, 'Read on').click()
    assert.deepEqual(await misfits(page), [])
    await noBarriers(page)
  }, { viewport })
}
