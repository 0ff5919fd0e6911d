// The on-screen keyboard: English, Chinese by pinyin, in every shape of display.

import assert from 'node:assert/strict'
import { screens } from './harness.mjs'
import { answered, button, explained, heading, misfits, press, say, useBrowser, visit } from './visitor.mjs'

useBrowser()

visit('is fetched with the first touch in a field, types, and asks', {}, async (page, fixture) => {
  const fetched = []
  page.on('request', (request) => fetched.push(request.url()))
  await explained(page)
  assert.equal(fetched.filter((url) => /Keyboard|chinese/.test(url)).length, 0, 'not before it is needed')
  const field = page.getByRole('textbox')
  await field.click()
  await press(page, ['{shift}', 'W', 'h', 'y', '{space}', 's', 'o', '{space}', 'o', 'l', 'x'])
  assert.equal(await field.inputValue(), 'Why so olx')
  assert.equal(fetched.filter((url) => /chinese/.test(url)).length, 0, 'an English keyboard needs no Chinese dictionary')
  await press(page, ['{bksp}', 'd', '?'])
  assert.equal(await field.inputValue(), 'Why so old?')
  await field.evaluate((input) => input.setSelectionRange(4, 6))
  await press(page, ['i', 's'])
  assert.equal(await field.inputValue(), 'Why is old?', 'it types where the caret is')
  await press(page, ['{signs}', '7', '{letters}', '{enter}'])
  await answered(page, 2).waitFor()
  assert.equal(fixture.called('/ask').at(-1).body.question, 'Why is7 old?')
  assert.deepEqual(await page.evaluate(() => Object.values(window.SimpleKeyboardInstances ?? {}).flatMap((k) => Object.values(k.input))), [''], 'it keeps nothing of what was typed')
  await press(page, ['{hide}'])
  await page.locator('.keyboard').waitFor({ state: 'detached' })
})

visit('writes Chinese by pinyin, with words of the gallery', {}, async (page, fixture) => {
  await explained(page, 'zh')
  const field = page.getByRole('textbox')
  await field.click()
  await press(page, 'huangjinjiao')
  await page.locator('.candidates button').first().waitFor()
  assert.equal(await page.locator('.candidates button').first().innerText(), '黄金角')
  assert.equal(await field.inputValue(), '', 'letters wait until a word is chosen')
  await press(page, ['{space}'])
  await press(page, 'shishenme')
  await page.getByRole('button', { name: '是什么', exact: true }).click()
  await press(page, '？')
  assert.equal(await field.inputValue(), '黄金角是什么？')
  await press(page, 'wei')
  await press(page, ['{bksp}', '{bksp}', '{bksp}'])
  assert.equal(await page.locator('.candidates button').count(), 0)
  await press(page, ['{language}', 'a', 'b', '{bksp}', '{bksp}', '{language}'])
  await press(page, ['{enter}'])
  await answered(page, 2).waitFor()
  assert.equal(fixture.called('/ask').at(-1).body.question, '黄金角是什么？')
})

visit('searches the list', { camera: 'none' }, async (page) => {
  await button(page, 'Touch to begin').click()
  await page.getByRole('textbox').click()
  await press(page, 'moire')
  assert.equal(await page.locator('.list li').count(), 1)
  await press(page, ['{enter}'])
  await page.locator('.keyboard').waitFor({ state: 'detached' })
})

visit('is gone with the visit', {}, async (page) => {
  await explained(page, 'zh')
  await page.getByRole('textbox').click()
  await press(page, 'mimi')
  await button(page, say.zh.over).click()
  await page.locator('.keyboard').waitFor({ state: 'detached' })
  assert.doesNotMatch(await page.locator('body').innerHTML(), /mimi/)
})

for (const language of ['en', 'zh']) {
  visit(`leaves room for what is asked about: ${language}`, {}, async (page) => {
    await explained(page, language)
    await page.getByRole('textbox').click()
    await press(page, language === 'zh' ? 'ni' : 'n')
    for (const [shape, viewport] of Object.entries(screens)) {
      await page.setViewportSize(viewport)
      await heading(page, say[language].title).waitFor()
      assert.deepEqual(await misfits(page), [], shape)
      const { form, keyboard, log, over } = await page.evaluate(() => {
        const box = (selector) => document.querySelector(selector).getBoundingClientRect()
        return { form: box('form').bottom, keyboard: box('.keyboard').top, log: box('[role=log]').height, over: box('nav').bottom }
      })
      assert.ok(form <= keyboard && over <= keyboard, shape + ': the question box and start over are above the keyboard')
      assert.ok(log >= 60, `something of the answer is in view: ${log}`)
    }
  })
}

visit('a phone has its own', {}, async (page) => {
  await explained(page)
  await page.getByRole('textbox').click()
  await page.waitForTimeout(300)
  assert.equal(await page.locator('.keyboard').count(), 0)
}, { viewport: { width: 412, height: 915 } })
