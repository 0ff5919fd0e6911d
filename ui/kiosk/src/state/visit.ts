import { type Client, Problem } from '../api/client'
import type { Level } from '../api/contract'
import type { PageLanguage } from '../i18n/strings'

/** What a visit is begun with, as it stands when it is asked for. */
interface Situation {
  language: () => PageLanguage
  level: () => Level
  /** The exhibit in the visitor's hand. */
  exhibit: () => string | null
  /** Aborted when the visitor leaves. */
  signal: () => AbortSignal
}

/** Whether the server no longer knows the visit. */
export function isForgotten(error: unknown): boolean {
  return error instanceof Problem && error.code === 'no_such_visit'
}

/** The visit as the server knows it: begun with the first call that needs one, and anew where the server forgot it. */
export class Visit {
  #id: Promise<string> | null = null
  readonly #client: Client
  readonly #now: Situation

  constructor(client: Client, now: Situation) {
    this.#client = client
    this.#now = now
  }

  current(): Promise<string> {
    this.#id ??= this.#start()
    return this.#id
  }

  /** Runs a call in the visit. A visit that the server no longer knows is begun anew, once. */
  async within<T>(call: (visit: string) => Promise<T>): Promise<T> {
    const visit = await this.current()
    try {
      return await call(visit)
    } catch (error) {
      if (!isForgotten(error)) throw error
      return await call(await this.renew())
    }
  }

  /** Begins another visit in place of this one and puts the exhibit in its hand. */
  async renew(): Promise<string> {
    const exhibit = this.#now.exhibit()
    this.leave()
    this.#id = this.#start()
    const visit = await this.#id
    if (exhibit !== null) await this.#client.holdExhibit(visit, exhibit, this.#now.signal())
    return visit
  }

  /** Goes on with a visit that began elsewhere. */
  goOn(visit: string): void {
    this.#id = Promise.resolve(visit)
  }

  /** Tells the server that the visit is over. It runs out by itself where the server does not hear of it. */
  leave(): void {
    this.#id?.then((visit) => this.#client.endVisit(visit)).catch(() => undefined)
  }

  forget(): void {
    this.#id = null
  }

  #start(): Promise<string> {
    const signal = this.#now.signal()
    const started = this.#client.startVisit(this.#now.language(), signal).then(async ({ visit }) => {
      const level = this.#now.level()
      if (level !== 'general') await this.#client.setLevel(visit, level, signal)
      return visit
    })
    // A start that failed must not be what later calls wait for.
    started.catch(() => {
      if (this.#id === started) this.#id = null
    })
    return started
  }
}
