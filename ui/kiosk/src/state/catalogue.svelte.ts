import { calledOff } from '../api/calledoff'
import { Problem, type Client } from '../api/client'
import type { ExhibitCard } from '../api/contract'

/** All exhibits of the gallery in the visitor's language, for the list and the number pad. */
export class Catalogue {
  exhibits = $state.raw<ExhibitCard[]>([])
  status = $state<'empty' | 'loading' | 'ready' | 'failed'>('empty')
  trouble = $state.raw<Problem | null>(null)

  readonly #client: Client
  readonly #unreachable: () => void
  #abort = new AbortController()

  constructor(client: Client, unreachable: () => void) {
    this.#client = client
    this.#unreachable = unreachable
  }

  async load(): Promise<void> {
    if (this.status === 'ready' || this.status === 'loading') return
    this.status = 'loading'
    this.trouble = null
    const { signal } = (this.#abort = new AbortController())
    try {
      const exhibits = await this.#client.exhibits('', signal)
      if (signal.aborted) return
      this.exhibits = exhibits
      this.status = 'ready'
    } catch (error) {
      if (signal.aborted) return
      this.status = 'failed'
      if (error instanceof Problem) this.trouble = error
      else this.#unreachable()
    }
  }

  /** Forgets the list: another language, another release. */
  clear(): void {
    this.#abort.abort(calledOff)
    this.exhibits = []
    this.status = 'empty'
    this.trouble = null
  }

  /** Whether exhibits have numbers beside them; taken for granted until the list is there. */
  get numbered(): boolean {
    return this.status !== 'ready' || this.exhibits.some((exhibit) => exhibit.label !== '')
  }

  withLabel(label: string): ExhibitCard | undefined {
    return this.exhibits.find((exhibit) => exhibit.label === label)
  }

  /** Exhibits that have every word of the query in title, maker, date or label, in the list's order. */
  matching(query: string): ExhibitCard[] {
    const words = fold(query).split(/\s+/).filter(Boolean)
    if (words.length === 0) return this.exhibits
    return this.exhibits.filter((exhibit) => {
      const text = fold(`${exhibit.label} ${exhibit.title} ${exhibit.maker ?? ''} ${exhibit.date ?? ''}`)
      return words.every((word) => text.includes(word))
    })
  }

  /** Exhibits whose title or a word of it is spelt nearly like the query, the likest first. */
  nearest(query: string): ExhibitCard[] {
    const least = 0.45
    return this.exhibits
      .map((exhibit) => ({ exhibit, like: Math.max(...[exhibit.title, exhibit.maker ?? '', ...exhibit.title.split(/\s+/)].map((text) => likeness(text, query))) }))
      .filter(({ like }) => like >= least)
      .sort((a, b) => b.like - a.like)
      .slice(0, 3)
      .map(({ exhibit }) => exhibit)
  }
}

/** How alike two texts are by their pairs of letters (Dice's coefficient), 0 to 1. */
function likeness(a: string, b: string): number {
  const pairs = (text: string) => {
    const letters = [...fold(text).replace(/\s+/g, '')]
    return letters.length < 2 ? letters : letters.slice(1).map((letter, i) => letters[i] + letter)
  }
  const [one, two] = [pairs(a), pairs(b)]
  if (one.length + two.length === 0) return 0
  const rest = [...two]
  let shared = 0
  for (const pair of one) {
    const at = rest.indexOf(pair)
    if (at < 0) continue
    rest.splice(at, 1)
    shared++
  }
  return (2 * shared) / (one.length + two.length)
}

/** Without case and accents, so that "moire" finds "Moiré". */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}
