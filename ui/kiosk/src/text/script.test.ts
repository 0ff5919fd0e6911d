import { expect, test } from 'vitest'
import { languageOf } from './script'

test.each([
  ['What is the golden angle?', 'zh', 'en'],
  ['黄金角是什么？', 'en', 'zh'],
  ['137.5°这个角叫作黄金角 (golden angle)。', 'en', 'zh'],
  ['The ice-crack lattice (冰裂纹) is cut in wood.', 'en', 'en'],
  ['Ada', 'zh', 'zh'],
  ['', 'en', 'en'],
  ['137.5°', 'zh', 'zh'],
  ['Où se trouve la sortie de secours ?', 'fr', 'fr'],
])('%s in a page in %s is in %s', (text, page, language) => expect(languageOf(text, page)).toBe(language))
