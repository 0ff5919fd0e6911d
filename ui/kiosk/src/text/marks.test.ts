import { describe, expect, test } from 'vitest'
import { completeSentences, paragraphsOf, spoken, type Paragraph } from './marks'

const w = (text: string) => ({ kind: 'words' as const, text })
const c = (text: string, ...marks: number[]) => ({ kind: 'cited' as const, text, marks, after: '' })
const zh = (text: string, after: string, ...marks: number[]) => ({ kind: 'cited' as const, text, marks, after })

describe('paragraphsOf', () => {
  const cases: [name: string, text: string, finished: boolean, paragraphs: Paragraph[]][] = [
    ['plain', 'No marks.', true, [[w('No marks.')]]],
    ['behind the full stop', 'Seeds turn. [1] So do leaves. [2]', true, [[w('Seeds '), c('turn.', 1), w(' So do '), c('leaves.', 2)]]],
    ['before the full stop', 'Seeds turn [1]. So do leaves [2].', true, [[w('Seeds '), c('turn.', 1), w(' So do '), c('leaves.', 2)]]],
    ['two marks', 'Both [1][2] agree', true, [[c('Both', 1, 2), w(' agree')]]],
    ['two marks apart', 'Both [1] [2], then', true, [[c('Both,', 1, 2), w(' then')]]],
    ['two in one', 'Both [1, 2]', true, [[c('Both', 1, 2)]]],
    ['Chinese', '种子转动[1，2]。叶也如此[1]。', true, [[w('种子转'), zh('动', '。', 1, 2), w('叶也如'), zh('此', '。', 1)]]],
    ['Chinese, behind the full stop', '种子转动。[1]叶也如此', true, [[w('种子转'), zh('动', '。', 1), w('叶也如此')]]],
    ['Chinese ending in a number', '发表于 1981 年，共 3[1]。', true, [[w('发表于 1981 年，共 '), zh('3', '。', 1)]]],
    ['Chinese ending in Latin letters', '来自法语 moiré[1]。', true, [[w('来自法语 '), zh('moiré', '。', 1)]]],
    ['Chinese in quotation marks', '他称之为“叶序”[1]。', true, [[w('他称之为“叶'), zh('序”', '。', 1)]]],
    ['Chinese, before a bracket that ends', '周五开放（20:30停止入场[1]）。周一闭馆', true, [[w('周五开放（20:30停止入'), zh('场）', '。', 1), w('周一闭馆')]]],
    ['Chinese, behind a bracket that ends', '周五开放（20:30停止入场）。[1]', true, [[w('周五开放（20:30停止入'), zh('场）', '。', 1)]]],
    ['Chinese, a stop within quotation marks', '他说：“够了。”[1]', true, [[w('他说：“够'), zh('了', '。”', 1)]]],
    ['the same twice in a row', 'Twice [1][1]', true, [[c('Twice', 1)]]],
    ['a mark of no source', 'Lost [9] here', true, [[w('Lost here')]]],
    ['a mark of no source before a full stop', 'Lost [9].', true, [[w('Lost.')]]],
    ['a mark before any word', '[1] Seeds', true, [[c('', 1), w(' Seeds')]]],
    ['paragraphs', 'One [1]\n\n\nTwo', true, [[c('One', 1)], [w('Two')]]],
    ['a line break stays', 'One\nTwo', true, [[w('One\nTwo')]]],
    ['not a mark', 'See [sic] and [1a]', true, [[w('See [sic] and [1a]')]]],
    ['unfinished while streaming', 'Seeds turn [', false, [[w('Seeds turn')]]],
    ['unfinished number while streaming', 'Seeds turn [1', false, [[w('Seeds turn')]]],
    ['unfinished list while streaming', 'Seeds turn [1, ', false, [[w('Seeds turn')]]],
    ['unfinished at the end is words', 'Seeds turn [1', true, [[w('Seeds turn [1')]]],
    ['a word too long for a line is cut', `${'a'.repeat(30)} [1]`, true, [[w('a'.repeat(6)), c('a'.repeat(24), 1)]]],
    ['empty', '', false, []],
  ]
  test.each(cases)('%s', (_, text, finished, paragraphs) => {
    expect(paragraphsOf(text, new Set([1, 2]), finished)).toEqual(paragraphs)
  })

  test('a growing text never shows half a mark', () => {
    const text = 'Each seed is turned [1]. The eye finds spirals [1, 2].\n\nLeaves do it too [2].'
    for (let end = 0; end <= text.length; end++) {
      for (const piece of paragraphsOf(text.slice(0, end), new Set([1, 2]), false).flat()) {
        expect(piece.text, text.slice(0, end)).not.toMatch(/[[\]]/)
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
