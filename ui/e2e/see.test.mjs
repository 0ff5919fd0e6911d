// Ways to an exhibit beside the shutter: held still, from a phone, by number and name, on the plan; and taking it along.

import assert from 'node:assert/strict'
import { screens } from './harness.mjs'
import { answered, button, explained, heading, say, useBrowser, visit, waitUntil } from './visitor.mjs'

useBrowser()

const moving = [{ steady: 0 }, { steady: 0 }]
const still = [...moving, { steady: 0.4 }, { steady: 0.8 }, { steady: 1 }]

visit('held still, it takes the photo by itself', { quality: still }, async (page, fixture) => {
  await button(page, say.en.begin).click()
  await heading(page, 'Phyllotaxis').waitFor()
  await answered(page, 1).waitFor()
  assert.equal(fixture.called('/photo').length, 1)
})

visit('what stands still all the time is not taken', { quality: [{ steady: 1 }] }, async (page, fixture) => {
  await button(page, say.en.begin).click()
  await page.locator('img.seen').waitFor()
  await page.waitForTimeout(1_000)
  assert.equal(fixture.called('/photo').length, 0)
})

visit('the live picture is advised upon', { quality: [...moving, { steady: 0.5, advice: 'too_dark' }] }, async (page, fixture) => {
  await button(page, say.zh.begin).click()
  await page.getByText('请让展品更亮一些再拍').waitFor()
  assert.equal(fixture.called('/photo').length, 0)
})

for (const [language, viewport] of Object.entries({ en: screens.portrait, zh: screens.landscape })) {
  const words = { en: ['Use your phone', 'Send a photo from your phone'], zh: ['用手机拍', '用您的手机发送照片'] }[language]

  visit(`from a phone: ${language}`, { phone: true }, async (page, fixture) => {
    await button(page, say[language].begin).click()
    await button(page, words[0]).click()
    await heading(page, words[1]).waitFor()
    const drawn = page.getByRole('dialog').locator('img')
    await drawn.waitFor()
    assert.ok(await drawn.evaluate((img) => img.complete && img.naturalWidth > 0), 'the code is drawn')
    fixture.phone()
    await heading(page, say[language].title).waitFor()
    await answered(page, 1).waitFor()
  }, { viewport })

  visit(`the plan: ${language}`, {}, async (page) => {
    await explained(page, language)
    await button(page, language === 'en' ? 'Plan' : '平面图').click()
    const sheet = page.getByRole('dialog')
    await sheet.locator('.spot').nth(3).waitFor()
    await sheet.getByText(language === 'en' ? 'You are here' : '您在这里').waitFor()
    await sheet.getByRole('button', { name: language === 'en' ? 'No. 403, Moiré Rings' : '编号 403，莫尔环' }).click()
    await sheet.locator('.below button').click()
    await heading(page, language === 'en' ? 'Moiré Rings' : '莫尔环').waitFor()
    await answered(page, 1).waitFor()
    await button(page, language === 'en' ? 'Plan' : '平面图').click()
    await sheet.getByRole('button', { name: language === 'en' ? 'No. 301, Phyllotaxis, Already seen' : '编号 301，叶序，已看过' }).waitFor()
    const [north, south] = await Promise.all(['104', '303'].map((n) => sheet.locator('.spot', { hasText: n }).boundingBox()))
    assert.ok(north.x < south.x && north.y < south.y, 'the plan is drawn as the house stands')
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    assert.equal(await page.locator('article').count(), 1, 'what was said is still there')
  }, { viewport })

  visit(`taken along: ${language}`, { take: language === 'en' ? 'text' : 'address' }, async (page) => {
    await explained(page, language)
    await button(page, language === 'en' ? 'Take along' : '带走').click()
    const sheet = page.getByRole('dialog')
    await sheet.locator('img').waitFor()
    await sheet.getByText(language === 'en' ? /no network is needed/ : 'museum.example/objects/phyllotaxis').waitFor()
    assert.equal(await page.locator('a').count(), 0)
  }, { viewport })
}

visit('a code that runs out is replaced in its place', { phone: true, phoneSeconds: 1 }, async (page, fixture) => {
  await button(page, say.en.begin).click()
  await button(page, 'Use your phone').click()
  await waitUntil(() => fixture.called('/phone/offer').length >= 2, 'a second code')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(fixture.called('/phone/offer').length, 3, 'and not for ever')
})

visit('by hall, by words of the texts, by a name nearly right', { camera: 'none' }, async (page) => {
  await button(page, say.en.begin).click()
  await button(page, 'Growth').click()
  assert.equal(await page.locator('.list li').count(), 2)
  await button(page, 'All halls').click()
  const field = page.getByRole('textbox')
  await field.fill('fibonacci')
  await heading(page, 'Mentioned in the texts of').waitFor()
  await page.locator('.further').getByRole('button', { name: /Phyllotaxis/ }).waitFor()
  await field.fill('philotaxis')
  await heading(page, 'Did you mean').waitFor()
  await page.getByRole('button', { name: /Phyllotaxis/ }).click()
  await heading(page, 'Phyllotaxis').waitFor()
})

for (const [language, viewport] of Object.entries({ en: screens.portrait, zh: screens.landscape })) {
  visit(`a walk on the plan: ${language}`, {}, async (page, fixture) => {
    const words = { en: ['Plan', 'Plan a walk', 'Show the walk', 'Change', 'Without steps', 'End the walk'], zh: ['平面图', '规划路线', '显示路线', '更改', '无台阶路线', '结束路线'] }[language]
    await explained(page, language)
    await button(page, words[0]).click()
    await button(page, words[1]).click()
    await page.getByRole('slider').fill('10')
    await button(page, words[2]).click()
    await page.getByRole('alert').waitFor()
    await page.getByRole('slider').fill('45')
    await button(page, words[2]).click()
    const stops = page.locator('.walk li')
    await stops.nth(2).waitFor()
    assert.deepEqual([fixture.called('/route').length, await stops.count()], [2, 3])
    // From the kiosk to 303, through the eastern door to 403, and back through both doors to 104.
    assert.equal(await page.locator('.way').last().getAttribute('d'), 'M12 -4L18 -2.5L20 -4L26 -3L20 -4L10 -4L3 -6')
    await button(page, words[3]).click()
    await page.getByRole('switch', { name: words[4] }).click()
    await button(page, words[2]).click()
    await waitUntil(async () => (await stops.count()) === 2, 'a walk without steps')
    await page.keyboard.press('Escape')
    await button(page, words[0]).click()
    await stops.nth(1).waitFor() // it is still there
    await button(page, words[5]).click()
    await page.locator('.way').first().waitFor({ state: 'detached' })
  }, { viewport, expected: [/404/] })
}

visit('what is remembered can be forgotten', {}, async (page, fixture) => {
  await explained(page)
  await button(page, say.en.comfort).click()
  await button(page, 'What I remember').click()
  await page.getByText('You are interested in plants.').waitFor()
  await button(page, 'Forget').click()
  await page.getByText('I remember nothing about you').waitFor()
  const { visit: _, ...told } = fixture.called('/visit/memory', 'POST')[0].body
  assert.deepEqual(told, { key: 'interest', version: 1, delete: true })
})

visit('a walk of many stops fits where there is little room', {}, async (page) => {
  await explained(page)
  await button(page, 'Plan').click()
  await button(page, 'Plan a walk').click()
  await button(page, 'Show the walk').click()
  await page.locator('.walk li').nth(2).waitFor()
  assert.ok(await page.locator('.walk ol').evaluate((list) => list.scrollWidth > list.clientWidth), 'the stops go on beyond the side')
}, { viewport: { width: 412, height: 915 } })
