// The page that a visitor's phone opens with a code.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { startFixture } from './fixture/server.mjs'
import { open } from './harness.mjs'
import { misfits, noBarriers, theBrowser, useBrowser } from './visitor.mjs'

useBrowser()

const viewport = { width: 390, height: 844 }
const frame = new URL('fixture/frame.jpg', import.meta.url).pathname

for (const [code, says] of Object.entries({ good: 'Done. Look at the kiosk.', over: 'This code is over. Please scan the new one on the kiosk.' })) {
  test(`a photo with a code that is ${code}`, { timeout: 60_000 }, async () => {
    const fixture = await startFixture({ phone: true })
    const opened = await open(theBrowser(), `${fixture.url}/phone.html#${code}`, { viewport, expected: [/410/] })
    const { page } = opened
    try {
      assert.equal(new URL(page.url()).hash, '', 'the code is not kept in the address')
      const [request] = await Promise.all([
        page.waitForRequest((r) => r.url().includes('/phone/photo')),
        page.locator('input').setInputFiles(frame),
      ])
      assert.match(request.url(), new RegExp(`token=${code}`))
      await page.getByRole('status').filter({ hasText: says }).waitFor()
      assert.equal(await page.locator('#choose').isVisible(), false)
      opened.calm()
    } finally {
      await opened.close()
      await fixture.close()
    }
  })
}

test('without a code, or the kiosk', { timeout: 60_000 }, async () => {
  const fixture = await startFixture({ phone: true })
  const bare = await open(theBrowser(), `${fixture.url}/phone.html`, { viewport })
  await bare.page.getByRole('status').filter({ hasText: 'This code is over' }).waitFor()
  bare.calm()
  await bare.close()
  const opened = await open(theBrowser(), `${fixture.url}/phone.html#good`, { viewport, expected: [/ERR_/] })
  await opened.page.locator('#label').waitFor()
  await fixture.close()
  await opened.page.locator('input').setInputFiles({ name: 'x.jpg', mimeType: 'image/jpeg', buffer: await readFile(frame) })
  await opened.page.getByRole('status').filter({ hasText: 'cannot be reached' }).waitFor()
  assert.ok(await opened.page.locator('#choose').isVisible(), 'it can be tried again')
  opened.calm()
  await opened.close()
})

for (const locale of ['en-US', 'zh-CN']) {
  test(`no barriers before the photo, while it is sent and after it: ${locale}`, { timeout: 60_000 }, async () => {
    const fixture = await startFixture({ phone: true })
    const opened = await open(theBrowser(), `${fixture.url}/phone.html#good`, { viewport, locale })
    const { page } = opened
    try {
      assert.equal(await page.locator('html').getAttribute('lang'), locale === 'zh-CN' ? 'zh-Hans' : 'en')
      await noBarriers(page)
      assert.deepEqual(await misfits(page), [])
      let goOn
      await page.route('**/phone/photo*', (route) => new Promise((go) => (goOn = go)).then(() => route.continue()))
      await page.locator('input').setInputFiles(frame)
      await page.getByRole('status').filter({ hasText: locale === 'zh-CN' ? '正在发送' : 'Sending' }).waitFor()
      await noBarriers(page)
      goOn()
      await page.getByRole('status').filter({ hasText: locale === 'zh-CN' ? '已发送' : 'Done' }).waitFor()
      await noBarriers(page)
      opened.calm()
    } finally {
      await opened.close()
      await fixture.close()
    }
  })
}
