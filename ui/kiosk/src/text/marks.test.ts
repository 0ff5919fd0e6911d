import { describe, expect, test } from 'vitest'
import { completeSentences, paragraphsOf, spoken, type Paragraph } from './marks'

const w = (text: string) => ({ kind: 'words' as const, text })
const m = (n: number) => ({ kind: 'mark' as const, n })

describe('paragraphsOf', () => {
  const cases: [name: string, text: string, finished: boolean, paragraphs: Paragraph[]][] = [
    ['plain', 'No marks.', true, [[w('No marks.')]]],
    ['a mark after a space', 'Seeds turn [1]. Leaves too [2].', true, [[w('Seeds turn'), m(1), w('. Leaves too'), m(2), w('.')]]],
    ['two marks', 'Both [1][2] agree', true, [[w('Both'), m(1), m(2), w(' agree')]]],
    ['two in one', 'Both [1, 2]', true, [[w('Both'), m(1), m(2)]]],
    ['Chinese commas', '两者皆然[1，2]。', true, [[w('两者皆然'), m(1), m(2), w('。')]]],
    ['the same twice in a row', 'Twice [1][1]', true, [[w('Twice'), m(1)]]],
    ['a mark of no source', 'Lost [9] here', true, [[w('Lost here')]]],
    ['paragraphs', 'One [1]\n\n\nTwo', true, [[w('One'), m(1)], [w('Two')]]],
    ['a line break stays', 'One\nTwo', true, [[w('One\nTwo')]]],
    ['not a mark', 'See [sic] and [1a]', true, [[w('See [sic] and [1a]')]]],
    ['unfinished while streaming', 'Seeds turn [', false, [[w('Seeds turn')]]],
    ['unfinished number while streaming', 'Seeds turn [1', false, [[w('Seeds turn')]]],
    ['unfinished list while streaming', 'Seeds turn [1, ', false, [[w('Seeds turn')]]],
    ['unfinished at the end is words', 'Seeds turn [1', true, [[w('Seeds turn [1')]]],
    ['empty', '', false, []],
  ]
  test.each(cases)('%s', (_, text, finished, paragraphs) => {
    expect(paragraphsOf(text, new Set([1, 2]), finished)).toEqual(paragraphs)
  })

  test('a growing text never shows half a mark', () => {
    const text = 'Each seed is turned [1]. The eye finds spirals [1, 2].\n\nLeaves do it too [2].'
    for (let end = 0; end <= text.length; end++) {
      for (const piece of paragraphsOf(text.slice(0, end), new Set([1, 2]), false).flat()) {
        if (piece.kind === 'words') expect(piece.text, text.slice(0, end)).not.toMatch(/[[\]]/)
      }
    }
  })
})

test('spoken leaves the marks out', () => {
  expect(spoken('Seeds turn [1]. Leaves too [1, 2] and [')).toBe('Seeds turn. Leaves too and')
  expect(spoken('种子转动[1]。')).toBe('种子转动。')
})

describe('completeSentences', () => {
  const cases: [text: string, from: number, sentences: string, next: number][] = [
    ['Not yet', 0, '', 0],
    ['One. Tw', 0, 'One.', 4],
    ['One. Two. Th', 4, 'Two.', 9],
    ['About 137.5 degrees', 0, '', 0],
    ['约 137.5 度。没有', 0, '约 137.5 度。', 10],
    ['Ends here.', 0, '', 0],
  ]
  test.each(cases)('%j from %i', (text, from, sentences, next) => {
    expect(completeSentences(text, from)).toEqual({ sentences, next })
  })
})
