import { describe, expect, test } from 'vitest'
import { locate } from './locate'

describe('locate', () => {
  test('in the middle', () => {
    expect(locate('One. Two. Three.', 'Two.')).toEqual({ before: 'One. ', passage: 'Two.', after: ' Three.' })
  })
  test('whatever the white space', () => {
    expect(locate('One.\n\nTwo words\nhere. Three.', 'Two words here.')).toEqual({
      before: 'One.\n\n',
      passage: 'Two words\nhere.',
      after: ' Three.',
    })
  })
  test('the whole', () => {
    expect(locate('叶序。', '叶序。')).toEqual({ before: '', passage: '叶序。', after: '' })
  })
  test('not in there', () => {
    expect(locate('One. Two.', 'Three.')).toBeNull()
    expect(locate('One.', '  ')).toBeNull()
  })
})
