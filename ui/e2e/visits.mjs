// Whole visits without pauses, and what they leave in the browser's memory.

import assert from 'node:assert/strict'
import { open } from './harness.mjs'

/** The visits after which memory is measured first: fonts, pictures and compiled code are there by then. */
const warm = 10
const measures = 10

/** Makes visits one after the other and returns the heap in MiB, after warming up, at each tenth of the way, at the end. */
export async function soak(browser, fixture, visits, report = () => undefined) {
  const opened = await open(browser, fixture.url)
  const { page } = opened
  const devtools = await page.context().newCDPSession(page)
  const heaps = []
  const times = []
  try {
    for (let n = 1; n <= visits + warm; n++) {
      const began = Date.now()
      await oneVisit(page, n)
      times.push(Date.now() - began)
      fixture.calls.length = 0
      if (n === warm || (n > warm && (n - warm) % Math.max(1, Math.floor(visits / measures)) === 0)) {
        heaps.push(await heap(devtools))
        report(n - warm, heaps.at(-1))
      }
    }
    opened.calm()
    assert.equal(fixture.visits.size, 0, 'all visits are over for the server')
  } finally {
    await opened.close()
  }
  times.sort((a, b) => a - b)
  return { heaps, grown: heaps.at(-1) / heaps[0] - 1, slowest: times.at(-1), median: times[times.length >> 1] }
}

/** Photograph, read, ask or open something, leave: another way each time. All of it happens in the page, at full speed. */
async function oneVisit(page, n) {
  await page.evaluate(async (turn) => {
    const found = async (find) => {
      for (const end = performance.now() + 20_000; performance.now() < end; ) {
        const element = find()
        if (element) return element
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      throw new Error(`not found: ${find}`)
    }
    const all = (selector) => [...document.querySelectorAll(selector)]
    const touch = async (selector, at = 0) => (await found(() => all(selector).filter((b) => !b.disabled)[at])).click()
    const closed = () => found(() => all('dialog').length === 0)

    await touch('.begin button', turn % 2)
    await touch('.shutter')
    await found(() => document.querySelector('.plane img')?.complete) // or it would be asked for after the visit is over
    await found(() => all('article[data-status=done]').length >= 1)
    if (turn % 3 === 0) {
      await touch('.suggestions button')
      await found(() => all('article[data-status=done]').length >= 2)
    }
    for (const [every, at] of [[4, 1], [5, 2], [7, 3]]) {
      if (turn % every !== 0) continue
      await touch('.tools button', at)
      await found(() => all('dialog')[0])
      document.querySelector('dialog').dispatchEvent(new Event('cancel', { cancelable: true }))
      await closed()
    }
    await touch('nav button')
    await touch('.farewell > button')
    await closed()
    await found(() => all('.begin button')[0])
  }, n)
}

/** Parts of a heap snapshot that are the page's own. Compiled code grows until all of it has been optimised once; native
 * parts are the browser's, among them what its developer tools record about each request. */
const own = new Set(['object', 'closure', 'array', 'string', 'concatenated string', 'sliced string', 'number', 'regexp', 'symbol', 'bigint', 'object shape'])

/** What the page itself holds in memory once all that can go is gone, in MiB. */
async function heap(devtools) {
  for (let i = 0; i < 3; i++) await devtools.send('HeapProfiler.collectGarbage')
  let text = ''
  const take = ({ chunk }) => (text += chunk)
  devtools.on('HeapProfiler.addHeapSnapshotChunk', take)
  await devtools.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  devtools.off('HeapProfiler.addHeapSnapshotChunk', take)
  const { snapshot, nodes } = JSON.parse(text)
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')]
  let sum = 0
  for (let at = 0; at < nodes.length; at += fields.length) if (own.has(types[type][nodes[at + type]])) sum += nodes[at + size]
  return sum / 2 ** 20
}
