// Every state of the page, in both languages and every shape of display: nothing sticks out, nothing is too small for a
// finger, and axe finds no barrier.

import assert from 'node:assert/strict'
import { screens } from './harness.mjs'
import { bilingual, expectedErrors, states } from './states.mjs'
import { misfits, noBarriers, useBrowser, visit } from './visitor.mjs'

useBrowser()

const displays = { ...screens, upright: { width: 800, height: 1280 }, phone: { width: 412, height: 915 } }
const shapes = { en: ['portrait', 'upright'], zh: ['landscape', 'tablet'] }
/** The page is not made for so small a display; these hold there all the same. */
const onPhones = ['attract', 'camera', 'exhibit', 'list', 'number', 'walk']

for (const [name, [script, go]] of Object.entries(states)) {
  for (const [language, [first, ...more]] of Object.entries(shapes)) {
    if (language === 'zh' && bilingual.includes(name)) continue
    const others = [...more]
    if (bilingual.includes(name)) others.push(...shapes.zh)
    if (language === 'en' && onPhones.includes(name)) others.push('phone')
    visit(`${name}: ${language}`, script, async (page, fixture) => {
      await go(page, language, fixture)
      assert.deepEqual(await misfits(page), [], first)
      await noBarriers(page, name === 'large' ? ['color-contrast-enhanced'] : [])
      for (const other of others) {
        await page.setViewportSize(displays[other])
        assert.deepEqual(await misfits(page), [], other)
      }
    }, { viewport: displays[first], expected: expectedErrors, own: name === 'away' })
  }
}
