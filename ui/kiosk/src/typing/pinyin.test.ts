import layout from 'simple-keyboard-layouts/build/layouts/chinese'
import { expect, test } from 'vitest'
import { phrases } from './phrases'
import { dictionaryFrom, Pinyin } from './pinyin'

const dictionary = dictionaryFrom(layout.layoutCandidates)
const pinyin = new Pinyin(dictionary, phrases)
pinyin.read(['每一粒种子都比前一粒转过约 137.5 度，也就是黄金角。', '镶嵌厅：彭罗斯铺砌', '西安'])

const first = (letters: string, n = 1) => pinyin.candidates(letters).slice(0, n).map((c) => c.text)

test.each([
  ['shenme', '什么'],
  ['weishenme', '为什么'],
  ['wsm', '为什么'],
  ['weishen', '为什么'],
  ['zenm', '怎么'],
  ['huangjinjiao', '黄金角'], // a word of the gallery
  ['huangjinj', '黄金角'], // still being typed
  ['pengluosi', '彭罗斯'],
  ['xiangqian', '镶嵌'],
  ['de', '的'],
  ['shi', '是'],
  ['xian', '西安'],
])('%s is %s', (letters, word) => {
  expect(first(letters)).toEqual([word])
  expect(pinyin.candidates(letters)[0]?.letters).toBe(letters.length)
})

test('a syllable offers its characters, commonest first', () => {
  expect(first('ma', 8)).toContain('吗')
  expect(first('ni', 1)).toEqual(['你'])
})

test('what is not a word is spelt syllable by syllable', () => {
  const [hua] = pinyin.candidates('huaduo')
  expect(hua).toEqual({ text: expect.stringMatching(/^\p{Script=Han}$/u), letters: 3 })
})

test('the beginning of a syllable offers something, and no letters offer nothing', () => {
  expect(pinyin.candidates('zh').length).toBeGreaterThan(5)
  expect(pinyin.candidates('')).toEqual([])
  expect(pinyin.candidates('v')).toEqual([])
})

test('each candidate is spelt by the letters it uses', () => {
  for (const letters of ['nihao', 'tuan', 'zheshishenme', 'fangan', 'lvse', 'a', 'xxxx', 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz']) {
    for (const candidate of pinyin.candidates(letters)) {
      expect(candidate.letters).toBeGreaterThan(0)
      expect(candidate.letters).toBeLessThanOrEqual(letters.length)
      expect(candidate.text).toMatch(/^\p{Script=Han}+$/u)
    }
  }
})

test('every phrase can be typed', () => {
  for (const phrase of phrases) {
    const spelt = [...phrase].map((c) => dictionary.ofCharacter.get(c)?.[0]).join('')
    expect(pinyin.candidates(spelt).map((c) => c.text), phrase).toContain(phrase)
  }
})
