/** A run of words, or a mark that names sources. */
export type Piece = { kind: 'words'; text: string } | { kind: 'mark'; n: number }
export type Paragraph = Piece[]

const mark = /\[(\d{1,3}(?:\s*[,，、]\s*\d{1,3})*)\]/g
const unfinishedMark = /\s*\[[\d\s,，、]*$/

/**
 * Cuts an answer into paragraphs and its [n] marks. A mark whose source is not known is left out, since touching it could
 * show nothing; so is a mark that the stream has not finished yet.
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
  const words = (more: string) => {
    if (more === '') return
    const last = pieces.at(-1)
    if (last?.kind === 'words') last.text += more
    else pieces.push({ kind: 'words', text: more })
  }
  let from = 0
  for (const found of text.matchAll(mark)) {
    // The space before a mark goes: the mark stands at the word, and may not begin a line.
    words(text.slice(from, found.index).trimEnd())
    from = found.index + found[0].length
    for (const number of found[1]?.split(/[,，、]/) ?? []) {
      const n = Number(number)
      const last = pieces.at(-1)
      if (known.has(n) && !(last?.kind === 'mark' && last.n === n)) pieces.push({ kind: 'mark', n })
    }
  }
  words(text.slice(from))
  return pieces
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
