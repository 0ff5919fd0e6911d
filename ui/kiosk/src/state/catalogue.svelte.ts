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
    this.#abort.abort()
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
}

/** Without case and accents, so that "moire" finds "Moiré". */
function fold(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}
