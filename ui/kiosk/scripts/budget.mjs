// Measures what a kiosk loads before the first picture: the page, its scripts and its styles, gzipped. Fonts and pictures
// are not counted. Fails above the budget, and when the built files would fetch anything from another host.
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const budget = 250 * 1024
const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const counted = new Set(['.html', '.js', '.css'])

let total = 0
let fonts = 0
const outside = []
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = join(entry.parentPath ?? entry.path, entry.name)
  const bytes = readFileSync(path)
  if (extname(path) === '.woff2') fonts += bytes.length
  if (!counted.has(extname(path))) continue
  total += gzipSync(bytes, { level: 9 }).length
  for (const [, address] of bytes.toString('utf8').matchAll(/(?:src|href)\s*=\s*"(https?:[^"]+)"|url\(\s*["']?(https?:[^)"']+)/g)) {
    outside.push(`${entry.name}: ${address}`)
  }
}

const kib = (n) => `${(n / 1024).toFixed(1)} KiB`
console.log(`first load ${kib(total)} gzip of ${kib(budget)} allowed; fonts ${kib(fonts)} on disk, loaded as characters need them`)
if (outside.length > 0) {
  console.error(`the built page names other hosts:\n${outside.join('\n')}`)
  process.exit(1)
}
if (total > budget) {
  console.error('the first load is over its budget')
  process.exit(1)
}
