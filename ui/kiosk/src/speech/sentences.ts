/** A sentence and where it stands on the screen. */
export interface Sentence {
  text: string
  language: string
  range: Range
}

/** What is not read: marks, buttons, and what only a screen reader is told. */
const unread = 'button, .hidden, [aria-hidden="true"], [data-unread]'
/** The kiosk's own voice takes no longer sentences, in characters. */
const longestSentence = 600

/** The sentences of the paragraphs and headings below an element, in the order they stand. `page` is the page's language. */
export function sentencesOf(root: HTMLElement, page: string): Sentence[] {
  const sentences: Sentence[] = []
  for (const block of root.querySelectorAll<HTMLElement>('[data-read]')) {
    const language = block.lang.split('-')[0] || page
    const segmenter = new Intl.Segmenter(language, { granularity: 'sentence' })
    const { text, place } = textOf(block)
    for (const { segment, index } of segmenter.segment(text)) {
      for (const part of cut(segment, longestSentence)) {
        const from = index + part.at + (part.text.length - part.text.trimStart().length)
        const spoken = part.text.trim()
        if (!/[\p{L}\p{N}]/u.test(spoken)) continue
        const range = document.createRange()
        range.setStart(...place(from))
        range.setEnd(...place(from + spoken.length, true))
        sentences.push({ text: spoken.replace(/\s+/g, ' '), language, range })
      }
    }
  }
  return sentences
}

/** Cuts what is too long for one breath, at white space or a comma where there is one. */
export function cut(text: string, longest: number): { at: number; text: string }[] {
  const parts: { at: number; text: string }[] = []
  let at = 0
  while (text.length - at > longest) {
    const piece = text.slice(at, at + longest)
    const end = Math.max(piece.lastIndexOf(' '), piece.lastIndexOf('，'), piece.lastIndexOf('、'), piece.lastIndexOf('；')) + 1
    const length = end > longest / 2 ? end : longest
    parts.push({ at, text: text.slice(at, at + length) })
    at += length
  }
  parts.push({ at, text: text.slice(at) })
  return parts
}

/** The text of a block as it is read, and where a place in it is in the document. */
function textOf(block: HTMLElement): { text: string; place: (at: number, end?: boolean) => [Node, number] } {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(unread) && block.contains(node.parentElement.closest(unread)) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
  )
  const nodes: { node: Text; from: number }[] = []
  let text = ''
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    nodes.push({ node: node as Text, from: text.length })
    text += (node as Text).data
  }
  return {
    text,
    place: (at, end = false) => {
      const found = nodes.findLast(({ from }) => (end ? from < at : from <= at)) ?? nodes[0]!
      return [found.node, Math.min(at - found.from, found.node.length)]
    },
  }
}
