/**
 * A run of words, or words with the numbers of the sources they rest on. The words of a cited piece are only the last few
 * before its marks, and `after` is the Chinese punctuation behind them: all that must stay on one line.
 */
export type Piece = { kind: 'words'; text: string } | { kind: 'cited'; text: string; marks: number[]; after: string }
export type Paragraph = Piece[]

const mark = /\[(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]/g
const unfinishedMark = /\s*\[[\d\s,，、]*$/
const latinStop = /^[.,;:!?…)\]”’]+/
// Brackets and quotation marks that end before the stop belong to the words, those behind it stay with the stop.
const closing = /^[）】」』》”’]+/
const chineseStop = /^[。，、；：！？]+[）】」』》”’]*/
const chineseStopAtEnd = /(?<=\p{Script=Han}.*)[。，、；：！？][。，、；：！？）】」』》”’]*$/u
// What stays with a mark: the rest of a word, or one Chinese character, with the punctuation after it.
const lastWord = /(?:\p{Script=Han}|[^\s\p{Script=Han}]{1,24}?)[\p{P}\p{S}]*$/u

/**
 * Cuts an answer into paragraphs and its [n] marks. A mark whose source is not known is left out, since touching it could
 * show nothing; so is a mark that the stream has not finished yet. Marks stand behind a Latin full stop and before a
 * Chinese one, wherever they were written: so they are set in each.
 */
export function paragraphsOf(text: string, known: ReadonlySet<number>, finished: boolean): Paragraph[] {
  const shown = finished ? text : text.replace(unfinishedMark, '')
  return shown
    .split(/\n\s*\n/)
    .map((paragraph) => piecesOf(paragraph.trim(), known))
    .filter((pieces) => pieces.length > 0)
}

function piecesOf(text: string, known: ReadonlySet<number>): Piece[] {
  const pieces: Piece[] = []
  let words = ''
  let marks: number[] = []
  let after = ''
  const finish = () => {
    if (marks.length > 0) {
      const stop = chineseStopAtEnd.exec(words)?.[0] ?? ''
      words = words.slice(0, words.length - stop.length)
      const at = lastWord.exec(words)?.index ?? words.length
      if (at > 0) pieces.push({ kind: 'words', text: words.slice(0, at) })
      pieces.push({ kind: 'cited', text: words.slice(at), marks, after: stop + after })
    } else if (words !== '') {
      pieces.push({ kind: 'words', text: words })
    }
    words = after = ''
    marks = []
  }
  let from = 0
  for (const found of text.matchAll(mark)) {
    add(text.slice(from, found.index), true)
    from = found.index + found[0].length
    for (const number of found[1]?.split(/[,，、]/) ?? []) {
      const n = Number(number)
      if (known.has(n) && marks.at(-1) !== n) marks.push(n)
    }
  }
  add(text.slice(from), false)
  finish()
  return pieces

  function add(more: string, markFollows: boolean): void {
    let rest = more
    if (marks.length > 0) {
      const end = chinese(words) && after === '' ? (closing.exec(rest)?.[0] ?? '') : ''
      const stop = chineseStop.exec(rest.slice(end.length))?.[0] ?? ''
      const latin = stop || end ? '' : (latinStop.exec(rest)?.[0] ?? '')
      after += stop
      words += end + latin
      rest = rest.slice(end.length + stop.length + latin.length)
    }
    if (markFollows) rest = rest.trimEnd()
    if (rest === '') return
    if (marks.length > 0) finish()
    words += rest
  }
}

/** Whether words are Chinese, as far as their end tells. */
function chinese(words: string): boolean {
  return /\p{Script=Han}[^\p{Script=Latin}]*$/u.test(words)
}

/** The answer as it would be read aloud, without marks. */
export function spoken(text: string): string {
  return text.replace(mark, '').replace(unfinishedMark, '').replace(/[ \t]+(?=[ \t.,;:!?。，；：！？])/g, '')
}

/** Splits off the sentences of a growing text that are complete, and says where the rest begins. */
export function completeSentences(text: string, from: number): { sentences: string; next: number } {
  const rest = text.slice(from)
  const end = /^[\s\S]*(?:[。！？…]|[.!?](?=\s)|\n)/.exec(rest)
  return end ? { sentences: end[0].trim(), next: from + end[0].length } : { sentences: '', next: from }
}
