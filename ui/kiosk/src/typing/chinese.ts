import chinese from 'simple-keyboard-layouts/build/layouts/chinese'
import { phrases } from './phrases'
import { dictionaryFrom, Pinyin } from './pinyin'

/** Opens the dictionary, with the words of these texts in it. Loaded with the first Chinese keyboard. */
export function openPinyin(texts: Iterable<string>): Pinyin {
  const pinyin = new Pinyin(dictionaryFrom(chinese.layoutCandidates), phrases)
  pinyin.read(texts)
  return pinyin
}
