// More about the exhibit in hand: its texts, its pictures, another beside it, read aloud.

import assert from 'node:assert/strict'
import { screens } from './harness.mjs'
import { answered, button, explained, heading, say, useBrowser, visit, waitUntil } from './visitor.mjs'

useBrowser()

const shapes = { en: screens.portrait, zh: screens.landscape }

for (const [language, viewport] of Object.entries(shapes)) {
  const words = say[language]
  visit(`the texts of an exhibit, and a related one: ${language}`, {}, async (page) => {
    await explained(page, language)
    await button(page, words.chapters).click()
    const sheet = page.getByRole('dialog')
    await sheet.getByRole('heading', { name: language === 'en' ? 'Why plants do this' : '植物为何如此' }).waitFor()
    assert.match(await sheet.innerText(), /GP-301/)
    await sheet.getByRole('button', { name: language === 'en' ? /Rule 30/ : /规则 30/ }).click()
    await heading(page, language === 'en' ? 'Rule 30' : '规则 30').waitFor()
    await answered(page, 1).waitFor()
  }, { viewport })

  visit(`for children: ${language}`, {}, async (page, fixture) => {
    await explained(page, language)
    await button(page, words.everyone).click()
    await page.getByRole('dialog').getByRole('button', { name: words.child }).click()
    await answered(page, 1).waitFor()
    assert.deepEqual(fixture.called('/visit/level').map((call) => call.body.level), ['child'])
    assert.equal(fixture.called('/ask', 'POST').length, 2, 'it is explained anew')
    await button(page, words.chapters).click()
    assert.match(await page.getByRole('dialog').locator('section').first().innerText(), language === 'en' ? /Count it yourself/ : /数一数/)
    await page.keyboard.press('Escape')
    await button(page, words.over).click()
    await button(page, words.close).click() // thanks
    await button(page, say.en.begin).click()
    await page.locator('.shutter').click()
    await button(page, say.en.everyone).waitFor()
  }, { viewport })

  visit(`beside another exhibit: ${language}`, {}, async (page, fixture) => {
    await explained(page, language)
    await button(page, words.compare).click()
    const sheet = page.getByRole('dialog')
    await sheet.locator('li').nth(2).waitFor()
    assert.match(await sheet.locator('li').first().innerText(), language === 'en' ? /Rule 30/ : /规则 30/, 'related ones come first')
    await sheet.locator('li button').nth(1).click()
    await sheet.getByRole('heading', { name: language === 'en' ? 'Moiré Rings' : '莫尔环' }).waitFor()
    await button(page, words.inCommon).click()
    await answered(page, 2).waitFor()
    assert.match(fixture.called('/ask', 'POST').at(-1).body.question, language === 'en' ? /“Phyllotaxis” and “Moiré Rings”/ : /“叶序”和“莫尔环”/)
  }, { viewport })

  visit(`read aloud, with a caption and the sentence marked: ${language}`, { sentence: 0.5 }, async (page, fixture) => {
    await explained(page, language)
    await button(page, words.listen).click()
    const caption = page.locator('.heard p')
    await caption.filter({ hasText: language === 'en' ? 'Each seed is turned' : '每一粒种子' }).waitFor()
    const marked = () => page.evaluate(() => [...(CSS.highlights.get('reading') ?? [])].map(String).join())
    assert.match(await marked(), language === 'en' ? /^Each seed .* from the one before\.$/ : /^每一粒种子.*黄金角。$/)
    await caption.filter({ hasText: language === 'en' ? 'No two seeds' : '没有两粒种子' }).waitFor()
    await button(page, words.stopReading).first().click()
    await page.locator('.heard').waitFor({ state: 'detached' })
    assert.equal(await marked(), '')
    const read = fixture.called('/speech').length
    assert.ok(read >= 2 && read <= 4, `${read} sentences were fetched`)
  }, { viewport })
}

visit('reading ends by itself, and keeps the visit open meanwhile', { sentence: 1, idleSeconds: 2 }, async (page) => {
  await explained(page)
  await button(page, say.en.listen).click()
  await page.locator('.heard').waitFor()
  await page.waitForTimeout(2_600)
  assert.equal(await page.getByRole('dialog').count(), 0, 'nobody is asked whether they are there while it is read')
  await page.locator('.heard').waitFor({ state: 'detached' })
  await page.getByRole('dialog', { name: 'Are you still there?' }).waitFor()
})

visit('a kiosk without a voice offers none', { speech: [] }, async (page) => {
  await explained(page)
  assert.equal(await button(page, say.en.listen).count(), 0)
  await button(page, say.en.comfort).click()
  assert.equal(await page.getByRole('group', { name: 'Reading voice' }).count(), 0)
})

visit('a picture up close', {}, async (page) => {
  await explained(page)
  await page.locator('.reference').click()
  const stage = page.getByRole('application')
  const scale = async () => Number(await stage.getAttribute('data-scale'))
  await stage.locator('img').waitFor()
  await button(page, say.en.nearer).click()
  assert.equal(await scale(), 1.5)
  await page.mouse.move(540, 700)
  await page.mouse.down()
  await page.mouse.move(9000, 700)
  await page.mouse.up()
  const left = await stage.locator('img').evaluate((img) => img.getBoundingClientRect().left)
  assert.ok(Math.abs(left) < 2, `it stays on its stage: ${left}`)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Input.synthesizePinchGesture', { x: 540, y: 800, scaleFactor: 2, gestureSourceType: 'touch' })
  await waitUntil(async () => (await scale()) > 2, 'two fingers bring it nearer')
  assert.equal(await page.evaluate(() => visualViewport.scale), 1, 'and the page stays as it is')
  await button(page, 'The whole picture').click()
  assert.equal(await scale(), 1)
  await page.getByText('Picture 1 of 2').waitFor()
  await button(page, 'Picture 2 of 2').last().click()
  await page.getByText('Picture 2 of 2').waitFor()
  await button(page, say.en.close).click()
  await heading(page, 'Phyllotaxis').waitFor()
})
