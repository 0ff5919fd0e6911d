import { expect, test } from 'vitest'
import { pageLanguages, strings } from './strings'

/** Every sentence with the path to it; those that need a value are given one. */
function sentences(value: unknown, path = ''): [path: string, sentence: string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value === 'function') return [[path, String(value(7, 'Name'))]]
  return Object.entries(value as object).flatMap(([key, inner]) => sentences(inner, path ? `${path}.${key}` : key))
}

test.each(pageLanguages)('every sentence is there in %s', (language) => {
  const all = sentences(strings[language])
  expect(all.length).toBeGreaterThan(60)
  for (const [path, sentence] of all) expect(sentence.trim(), path).not.toBe('')
})

test('no English sentence was left in Chinese', () => {
  const translated = sentences(strings.zh).filter(([, sentence]) => !/\p{Script=Han}/u.test(sentence))
  expect(translated.map(([path]) => path)).toEqual(['comma'])
})
