// One whole visit on the product itself, in each language: photograph, name, explanation with citation, source, question,
// answer with citation, start over. DOCENT_URL is the address of a kiosk whose camera shows its exhibits, such as that of
// `docent demo`.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { launch, open } from './harness.mjs'

const address = process.env.DOCENT_URL
const skip = address ? false : 'set DOCENT_URL to the address of a running kiosk, such as that of docent demo'
const mostPhotos = 6

const languages = {
  en: { tag: 'en', begin: 'Touch to begin', shutter: 'Take the photo', again: 'Photograph again', source: /^Source \d+$/, close: 'Close', ask: 'Ask', over: 'Start over', question: 'Who made this?' },
  zh: { tag: 'zh-Hans', begin: '轻触开始', shutter: '拍照', again: '重新拍照', source: /^出处 \d+$/, close: '关闭', ask: '提问', over: '重新开始', question: '这是谁的作品？' },
}

let browser
let offered = [] // languages of the gallery
before(async () => {
  if (skip) return
  offered = (await get('/api/v1/gallery')).languages
  browser = await launch()
})
after(() => browser?.close())

for (const [language, say] of Object.entries(languages)) {
  test(`a visit in ${language}`, { skip, timeout: 240_000 }, async (t) => {
    if (!offered.includes(language)) return t.skip(`the gallery has no ${language}`)
    const { page, calm, close } = await open(browser, address)
    page.setDefaultTimeout(60_000)
    try {
      const nextPhoto = photographs(page)
      await page.getByRole('button', { name: say.begin, exact: true }).click()
      await page.getByRole('button', { name: say.over, exact: true }).waitFor()
      assert.equal(await page.locator('html').getAttribute('lang'), say.tag)

      const photo = await recognised(page, nextPhoto, say)
      const title = (await page.getByRole('heading', { level: 1 }).innerText()).trim()
      const exhibit = await exhibitCalled(title, language)
      t.diagnostic(`${exhibit.label} ${title}`)

      const explanation = page.locator('article[data-status=done]').first()
      await explanation.waitFor()
      await hasCitations(explanation, say)

      await explanation.getByRole('button', { name: say.source }).first().click()
      const sheet = page.getByRole('dialog')
      await sheet.locator('mark').waitFor()
      const id = await sheet.locator('[data-passage]').getAttribute('data-passage')
      const passage = await get(`/api/v1/passages/${encodeURIComponent(id)}`)
      assert.equal(plain(await sheet.locator('mark').innerText()), plain(passage.text), 'the sheet shows the passage that was cited')
      assert.equal(passage.section.language, language)
      await sheet.getByRole('button', { name: say.close, exact: true }).first().click()
      await sheet.waitFor({ state: 'detached' })

      const suggestion = page.locator('.suggestions button').first()
      const question = (await suggestion.count()) ? (await suggestion.innerText()).trim() : say.question
      t.diagnostic(question)
      await page.getByRole('textbox').fill(question)
      await page.getByRole('button', { name: say.ask, exact: true }).click()
      const answer = page.locator('article[data-status=done]').nth(1)
      await answer.waitFor()
      await hasCitations(answer, say)
      assert.equal(await page.locator('a').count(), 0, 'no link leads away')

      await page.getByRole('button', { name: say.over, exact: true }).click()
      await page.getByRole('button', { name: say.begin, exact: true }).waitFor()
      const left = await page.locator('body').innerHTML()
      assert.ok(!left.includes(question), 'the question is gone from the page')
      await gone(photo)
      calm()
    } finally {
      await close()
    }
  })
}

/** Returns a function that waits for what the kiosk says about the next photo, whoever has taken it. */
function photographs(page) {
  const taken = []
  let wake = () => undefined
  page.on('response', (response) => {
    if (new URL(response.url()).pathname !== '/api/v1/photo') return
    taken.push(response)
    wake()
  })
  return async () => {
    while (taken.length === 0) await new Promise((resolve) => (wake = resolve))
    return taken.shift()
  }
}

/** Touches the shutter, unless the kiosk, held still, is faster. */
async function photograph(page, nextPhoto, say) {
  let response
  const arrived = nextPhoto().then((r) => (response = r))
  const shutter = page.getByRole('button', { name: say.shutter, exact: true })
  while (!response) await Promise.race([arrived, shutter.click({ timeout: 1_000 }).catch(() => undefined)])
  return response
}

/** Takes photos until one is recognised, or is when the visitor picks the first card. Returns the photo's address. */
async function recognised(page, nextPhoto, say) {
  for (let taken = 1; taken <= mostPhotos; taken++) {
    const response = await photograph(page, nextPhoto, say)
    assert.equal(response.status(), 200)
    const seen = await response.json()
    if (seen.decision === 'choose') await page.locator('main li button').first().click()
    if (seen.decision !== 'unknown') {
      await page.locator('article').first().waitFor()
      return seen.photo.url
    }
    await page.getByRole('button', { name: say.again, exact: true }).click()
  }
  assert.fail(`none of ${mostPhotos} photos was recognised`)
}

async function exhibitCalled(title, language) {
  const { exhibits } = await get(`/api/v1/exhibits?lang=${language}`)
  const found = exhibits.find((exhibit) => exhibit.title === title)
  assert.ok(found, `“${title}” is the ${language} title of an exhibit`)
  return found
}

async function hasCitations(article, say) {
  const marks = await article.getByRole('button', { name: say.source }).count()
  const text = await article.innerText()
  assert.ok(marks > 0, `the answer cites its sources: ${text}`)
  assert.ok(text.length > 40, `the answer says something: ${text}`)
}

async function get(path) {
  const response = await fetch(new URL(path, address))
  assert.equal(response.status, 200, path)
  return response.json()
}

/** The end of a visit is told in the background, so the photo may be there for a moment longer. */
async function gone(path) {
  for (let i = 0; i < 50; i++) {
    const { status } = await fetch(new URL(path, address))
    if (status >= 400 && status < 500) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  assert.fail('the photo outlives the visit')
}

function plain(text) {
  return text.replace(/\s+/g, '')
}
