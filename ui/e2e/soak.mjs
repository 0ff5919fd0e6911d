// Many visits in one browser, one after the other: does the page grow?
//   node soak.mjs [VISITS]      1,000 unless said otherwise

import { startFixture } from './fixture/server.mjs'
import { launch } from './harness.mjs'
import { soak } from './visits.mjs'

const visits = Number(process.argv[2] ?? 1_000)
const browser = await launch()
const fixture = await startFixture()
try {
  const { grown, heaps, slowest, median } = await soak(browser, fixture, visits, (n, heap) => console.log(`${n} visits: ${heap.toFixed(2)} MiB`))
  console.log(`${visits} visits; heap ${heaps[0].toFixed(2)} → ${heaps.at(-1).toFixed(2)} MiB, ${(grown * 100).toFixed(1)} %; a visit ${median} ms, the slowest ${slowest} ms`)
  if (Math.abs(grown) > 0.1) {
    console.error('the page has grown by more than 10 %')
    process.exitCode = 1
  }
} finally {
  await browser.close()
  await fixture.close()
}
