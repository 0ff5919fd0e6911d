/** Which characters a syllable may stand for, the commonest first, and the other way round. */
export interface Dictionary {
  readonly ofSyllable: ReadonlyMap<string, readonly string[]>
  readonly ofCharacter: ReadonlyMap<string, readonly string[]>
}

/** What the letters typed so far may mean, and how many of them it uses up. */
export interface Candidate {
  text: string
  letters: number
}

/** The most candidates offered at once. */
const mostCandidates = 60
/** Words of the gallery's own texts are at most this long. */
const longestWord = 8

export function dictionaryFrom(layoutCandidates: Readonly<Record<string, string>>): Dictionary {
  const ofSyllable = new Map<string, readonly string[]>()
  const ofCharacter = new Map<string, string[]>()
  for (const [syllable, list] of Object.entries(layoutCandidates)) {
    const characters = list.split(/\s+/).filter(Boolean)
    ofSyllable.set(syllable, characters)
    for (const character of characters) {
      const syllables = ofCharacter.get(character)
      if (syllables) syllables.push(syllable)
      else ofCharacter.set(character, [syllable])
    }
  }
  return { ofSyllable, ofCharacter }
}

/**
 * Turns pinyin into Chinese: whole words first, from a list of common ones and from what the gallery itself says, then the
 * characters of the first syllable. A small dictionary of syllables thus serves for the words that visitors need here,
 * without a large one of the language.
 */
export class Pinyin {
  readonly #dictionary: Dictionary
  readonly #phrases: readonly string[]
  #texts: string[] = []

  constructor(dictionary: Dictionary, phrases: readonly string[]) {
    this.#dictionary = dictionary
    this.#phrases = phrases
  }

  /** Takes the texts whose words may be meant. */
  read(texts: Iterable<string>): void {
    const runs = new Set<string>()
    for (const text of texts) for (const [run] of text.matchAll(/\p{Script=Han}{2,}/gu)) runs.add(run)
    this.#texts = [...runs]
  }

  /** What the letters may mean, the likeliest first. */
  candidates(letters: string): Candidate[] {
    const typed = letters.toLowerCase()
    if (typed === '') return []
    const found = new Map<string, number>()
    const add = (text: string, used: number) => {
      if (!found.has(text)) found.set(text, used)
    }
    const words = this.#words(typed)
    for (const word of words.filter((w) => w.letters === typed.length && !w.guessed)) add(word.text, word.letters)
    const syllables = this.#firstSyllables(typed)
    // A single whole syllable means its characters before the beginning of longer words.
    if (syllables[0] === typed) for (const c of this.#characters(typed).slice(0, 8)) add(c, typed.length)
    for (const word of words) add(word.text, word.letters)
    for (const syllable of syllables) for (const c of this.#characters(syllable)) add(c, syllable.length)
    if (syllables.length === 0) for (const c of this.#beginnings(typed)) add(c, typed.length)
    return [...found].slice(0, mostCandidates).map(([text, used]) => ({ text, letters: used }))
  }

  #characters(syllable: string): readonly string[] {
    return this.#dictionary.ofSyllable.get(syllable) ?? []
  }

  /** Syllables that the letters begin with, the longest first. */
  #firstSyllables(letters: string): string[] {
    const found: string[] = []
    for (let length = Math.min(6, letters.length); length > 0; length--) {
      const syllable = letters.slice(0, length)
      if (this.#dictionary.ofSyllable.has(syllable)) found.push(syllable)
    }
    return found
  }

  /** The commonest characters of all syllables that begin with these letters. */
  #beginnings(letters: string): string[] {
    return [...this.#dictionary.ofSyllable].filter(([syllable]) => syllable.startsWith(letters)).flatMap(([, list]) => list.slice(0, 2))
  }

  /** Words of two characters and more: those that use up all letters first, then the longest; common words before others. */
  #words(letters: string): (Candidate & { guessed: boolean })[] {
    const scored = new Map<string, { letters: number; score: number; guessed: boolean }>()
    const add = (text: string, used: number, score: number, guessed = false) => {
      const known = scored.get(text)
      scored.set(text, { letters: Math.max(used, known?.letters ?? 0), score: score + (known?.score ?? 0), guessed: guessed && (known?.guessed ?? true) })
    }
    for (const phrase of this.#phrases) {
      const short = this.#reads(phrase, letters, 0, true)
      const used = short === letters.length ? short : this.#reads(phrase, letters, 0, false)
      if (used > 0) add(phrase, used, 3)
      else if (this.#begins(phrase, letters)) add(phrase, letters.length, 3, true)
    }
    for (const text of this.#texts) {
      for (let from = 0; from + 1 < text.length; from++) {
        for (const end of this.#endsOf(text, from, letters)) add(text.slice(from, end.at), end.letters, 1)
      }
    }
    return [...scored]
      .map(([text, word]) => ({ text, ...word }))
      .sort((a, b) => b.letters - a.letters || Number(a.guessed) - Number(b.guessed) || b.score - a.score || a.text.length - b.text.length)
      .slice(0, 24)
  }

  /**
   * How many of the letters a whole phrase uses up; 0 where it does not fit. Each character may be given by its syllable
   * or, with `short`, by its first letters alone ("wsm" for 为什么); the last by the beginning of its syllable.
   */
  #reads(phrase: string, letters: string, at: number, short: boolean): number {
    const [character] = phrase
    if (character === undefined) return at
    const rest = phrase.slice(character.length)
    for (const syllable of this.#dictionary.ofCharacter.get(character) ?? []) {
      const left = letters.slice(at)
      if (left === '') continue
      if (left.startsWith(syllable)) {
        const used = this.#reads(rest, letters, at + syllable.length, short)
        if (used > 0) return used
      }
      if (rest === '' && syllable.startsWith(left)) return letters.length
      const initial = /^(?:[zcs]h|[a-z])/.exec(syllable)![0]
      for (const begin of short ? [initial, initial[0]!] : []) {
        if (!left.startsWith(begin)) continue
        const used = this.#reads(rest, letters, at + begin.length, short)
        if (used > 0) return used
      }
    }
    return 0
  }

  /** Whether the letters are whole syllables, and more than one, of a longer phrase. */
  #begins(phrase: string, letters: string): boolean {
    for (let length = 2; length < phrase.length; length++) {
      const used = this.#reads(phrase.slice(0, length), letters, 0, false)
      if (used === letters.length) return true
      if (used === 0) return false
    }
    return false
  }

  /** Where words end that begin at a place of a text and are spelt by the letters, in two whole syllables or more. */
  #endsOf(text: string, from: number, letters: string): { at: number; letters: number }[] {
    let states = [0]
    const ends: { at: number; letters: number }[] = []
    for (let i = from; i < text.length && i - from < longestWord && states.length > 0; i++) {
      const syllables = this.#dictionary.ofCharacter.get(text[i]!) ?? []
      const next = new Set<number>()
      for (const used of states) {
        for (const syllable of syllables) {
          if (letters.startsWith(syllable, used)) next.add(used + syllable.length)
          else if (i > from && used < letters.length && syllable.startsWith(letters.slice(used))) next.add(letters.length)
        }
      }
      states = [...next].filter((used) => used <= letters.length)
      if (i > from && states.length > 0) ends.push({ at: i + 1, letters: Math.max(...states) })
      states = states.filter((used) => used < letters.length)
    }
    return ends
  }
}
