import { readFileSync } from 'node:fs'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

// What the built page may load: its own files, and nothing else. `vite dev` needs inline styles, so only the build has it.
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "worker-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const contentSecurityPolicy: Plugin = {
  name: 'content-security-policy',
  apply: 'build',
  transformIndexHtml: () => [
    {
      tag: 'meta',
      attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
      injectTo: 'head-prepend',
    },
  ],
}

// What the built page carries of others, with the licences that must go with it.
const carried = [
  'svelte/LICENSE.md',
  '@fontsource-variable/noto-sans-sc/LICENSE',
  '@fontsource-variable/noto-serif-sc/LICENSE',
  '@fontsource-variable/source-sans-3/LICENSE',
  '@fontsource-variable/source-serif-4/LICENSE',
  'simple-keyboard/LICENSE',
  'simple-keyboard-layouts/LICENSE',
]

const licences: Plugin = {
  name: 'licences',
  apply: 'build',
  generateBundle() {
    const text = carried.map((file) => `${file}\n\n${readFileSync(new URL(`node_modules/${file}`, import.meta.url), 'utf8')}`)
    this.emitFile({ type: 'asset', fileName: 'licences.txt', source: text.join('\n\n----\n\n') })
  },
}

// The worker that keeps the page for a start without the server. It names what the page loads first; fonts come later.
const shell: Plugin = {
  name: 'shell',
  apply: 'build',
  enforce: 'post',
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle)
    const entry = chunks.find((chunk) => chunk.type === 'chunk' && chunk.isEntry && chunk.name === 'main')
    if (entry?.type !== 'chunk') throw new Error('the page has no entry')
    const first = new Set<string>([entry.fileName])
    for (const name of first) {
      const chunk = bundle[name]
      if (chunk?.type !== 'chunk') continue
      for (const file of [...chunk.imports, ...(chunk.viteMetadata?.importedCss ?? [])]) first.add(file)
    }
    const files = ['/', ...[...first].map((file) => `/${file}`)]
    const source = readFileSync(new URL('src/shell/worker.js', import.meta.url), 'utf8')
    this.emitFile({
      type: 'asset',
      fileName: 'shell.js',
      source: source.replace("'__RELEASE__'", JSON.stringify(`page ${[...first].join(' ')}`)).replace("['__FILES__']", JSON.stringify(files)),
    })
  },
}

export default defineConfig({
  logLevel: 'warn', // four hundred font files are not worth a line each
  plugins: [svelte(), contentSecurityPolicy, licences, shell],
  // public/.gitkeep is copied into dist, so that a build leaves the committed file in place.
  publicDir: 'public',
  build: {
    target: 'chrome111', // Debian 12 and Raspberry Pi OS ship newer ones
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    sourcemap: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      input: { main: 'index.html', phone: 'phone.html' },
    },
  },
  server: {
    proxy: { '/api': process.env['DOCENT_URL'] ?? 'http://127.0.0.1:8080' },
  },
  test: {
    environment: 'node',
    include: ['src/**/*.test.ts'],
  },
})
