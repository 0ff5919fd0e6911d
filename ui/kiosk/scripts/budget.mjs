// Measures what a kiosk loads before the first picture: the page and the scripts and styles that it names, gzipped. Fonts,
// pictures and what is loaded later (the keyboard, its dictionary) are not counted. Fails above the budget, and when the
// built files would fetch anything from another host.
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const budget = 250 * 1024
const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const counted = new Set(['.html', '.js', '.css'])

// The page, what it names, and what its scripts import before they run.
const first = new Set(['index.html'])
for (const name of first) {
  const text = readFileSync(join(dist, name), 'utf8')
  if (name.endsWith('.html')) for (const [, file] of text.matchAll(/(?:src|href)="(?:\.\/|\/)([^"]+)"/g)) first.add(file)
  if (name.endsWith('.js')) for (const [, file] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) first.add(`assets/${file}`)
}

let total = 0
let later = 0
let fonts = 0
const outside = []
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = join(entry.parentPath ?? entry.path, entry.name)
  const bytes = readFileSync(path)
  if (extname(path) === '.woff2') fonts += bytes.length
  if (!counted.has(extname(path))) continue
  const size = gzipSync(bytes, { level: 9 }).length
  if (first.has(relative(dist, path))) total += size
  else later += size
  for (const [, address] of bytes.toString('utf8').matchAll(/(?:src|href)\s*=\s*"(https?:[^"]+)"|url\(\s*["']?(https?:[^)"']+)/g)) {
    outside.push(`${entry.name}: ${address}`)
  }
}

// Whoever builds with --silent, as make does for the demo, hears of it only where it is too much.
const quiet = process.env.npm_config_loglevel === 'silent'
const kib = (n) => `${(n / 1024).toFixed(1)} KiB`
if (!quiet) console.log(`first load ${kib(total)} gzip of ${kib(budget)} allowed; ${kib(later)} when it is needed; fonts ${kib(fonts)} on disk, loaded as characters need them`)
if (outside.length > 0) {
  console.error(`the built page names other hosts:\n${outside.join('\n')}`)
  process.exit(1)
}
if (total > budget) {
  console.error('the first load is over its budget')
  process.exit(1)
}
