import { calledOff } from './calledoff'
import type {
  AnswerEvent,
  Diagnostics,
  ExhibitCard,
  ExhibitDetail,
  Feedback,
  Gallery,
  HouseScreen,
  Level,
  LiveQuality,
  Localized,
  PassageView,
  PhoneOffer,
  Recognition,
  Remembered,
  Resumed,
  Route,
  TakeAlong,
  Venue,
  Visit,
  VisitPass,
} from './contract'
import { eventsOf, type ServerSentEvent } from './sse'

/** The server's refusal, with its sentences for the visitor (RFC 9457). Sentences are empty where it sent none. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
  ) {
    super(`${status} ${code}`)
    this.name = 'Problem'
  }
}

/** The server cannot be reached, does not answer in time, broke off in the middle, or is not ready yet. */
export class Unreachable extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options)
    this.name = 'Unreachable'
  }
}

/** How long an answer may be silent before it counts as broken off. The server says something every second. */
export const answerSilence = 15_000

const shortWait = 10_000
const photoWait = 30_000

type Fetch = (input: string, init: RequestInit) => Promise<Response>

interface Call {
  method?: 'GET' | 'POST'
  body?: unknown
  signal?: AbortSignal
  wait?: number
  accept?: string
  keepalive?: boolean
  query?: Record<string, string | undefined>
}

/** Speaks to the kiosk server. Every call may throw {@link Problem}, {@link Unreachable} or an AbortError. */
export class Client {
  /** The language that the server's sentences shall be in. */
  language = 'en'

  readonly #base: string
  readonly #fetch: Fetch

  constructor(base = '/api/v1', fetch: Fetch = (input, init) => globalThis.fetch(input, init)) {
    this.#base = base
    this.#fetch = fetch
  }

  gallery(signal?: AbortSignal): Promise<Gallery> {
    return this.#json('/gallery', { ...(signal && { signal }) })
  }

  startVisit(language: string, signal?: AbortSignal): Promise<Visit> {
    return this.#json('/visit/start', { method: 'POST', body: { language }, ...(signal && { signal }) })
  }

  /** Ends a visit; the request outlives the page. */
  async endVisit(visit: string): Promise<void> {
    await this.#call('/visit/end', { method: 'POST', body: { visit }, keepalive: true })
  }

  /** What is said in the visit from here on is said in this language. */
  async setLanguage(visit: string, language: string, signal?: AbortSignal): Promise<void> {
    await this.#call('/visit/language', { method: 'POST', body: { visit, language }, ...(signal && { signal }) })
  }

  /** Answers are made for this audience from here on. */
  async setLevel(visit: string, level: Level, signal?: AbortSignal): Promise<void> {
    await this.#call('/visit/level', { method: 'POST', body: { visit, level }, ...(signal && { signal }) })
  }

  /** Tells the house what a visitor thought; outlives the page. */
  async sendFeedback(feedback: Feedback): Promise<void> {
    await this.#call('/feedback', { method: 'POST', body: feedback, keepalive: true })
  }

  venue(signal?: AbortSignal): Promise<Venue> {
    return this.#json('/venue', { ...(signal && { signal }) })
  }

  /** Makes a code that lets a phone send one photo into the visit. */
  offerPhone(visit: string, signal?: AbortSignal): Promise<PhoneOffer> {
    return this.#json('/phone/offer', { method: 'POST', body: { visit }, ...(signal && { signal }) })
  }

  /** Waits until a phone has sent a photo; null where the code ran out. */
  async phonePhoto(visit: string, signal: AbortSignal): Promise<Recognition | null> {
    for await (const { event, data } of this.#listen('/phone/wait', { visit }, signal)) {
      if (event === 'photo') return JSON.parse(data) as Recognition
      if (event === 'over') return null
    }
    return null
  }

  /** How the live picture would do as a photo, as long as it is shown. */
  async *liveQuality(signal: AbortSignal): AsyncGenerator<LiveQuality> {
    for await (const { event, data } of this.#listen('/preview/quality', {}, signal)) {
      if (event === 'quality') yield JSON.parse(data) as LiveQuality
    }
  }

  /** The emergency message that holds (null: none) and what the house has set for the screen, and every change of both. */
  async *signals(signal: AbortSignal): AsyncGenerator<{ emergency: Localized | null } | { house: HouseScreen }> {
    for await (const { event, data } of this.#listen('/signals', {}, signal)) {
      if (event === 'emergency') yield { emergency: (JSON.parse(data) as { text: Localized | null }).text }
      if (event === 'screen') yield { house: JSON.parse(data) as HouseScreen }
    }
  }

  /** Plans a walk from this kiosk that leaves out what the visit has seen. */
  route(visit: string, minutes: number, stepFree: boolean, signal?: AbortSignal): Promise<Route> {
    return this.#json('/route', { query: { visit, minutes: String(minutes), step_free: String(stepFree) }, ...(signal && { signal }) })
  }

  remembered(visit: string, signal?: AbortSignal): Promise<Remembered> {
    return this.#json('/visit/memory', { query: { visit }, ...(signal && { signal }) })
  }

  /** Takes one thing back that is remembered, and returns what is left. */
  forget(visit: string, key: string, version: number, signal?: AbortSignal): Promise<Remembered> {
    return this.#json('/visit/memory', { method: 'POST', body: { visit, key, version, delete: true }, ...(signal && { signal }) })
  }

  /** Puts one thing that is remembered in the visitor's own words, and returns what is remembered then. */
  remember(visit: string, key: string, version: number, text: string, signal?: AbortSignal): Promise<Remembered> {
    return this.#json('/visit/memory', { method: 'POST', body: { visit, key, version, text }, ...(signal && { signal }) })
  }

  /** Makes a pass that lets the visit go on at another kiosk, today or for longer. */
  passFor(visit: string, keep: 'day' | 'longer', signal?: AbortSignal): Promise<VisitPass> {
    return this.#json('/visit/pass', { method: 'POST', body: { visit, keep }, ...(signal && { signal }) })
  }

  /** Goes on with the visit that a short code stands for. */
  resume(code: string, signal?: AbortSignal): Promise<Resumed> {
    return this.#json('/visit/resume', { method: 'POST', body: { code }, ...(signal && { signal }) })
  }

  /** Looks for a pass before the camera, for a minute. What is no good is said, and it looks on. */
  async *scanPass(signal: AbortSignal): AsyncGenerator<{ resumed: Resumed } | { refused: string }> {
    for await (const { event, data } of this.#listen('/visit/scan', { lang: this.language }, signal)) {
      if (event === 'pass') yield { resumed: JSON.parse(data) as Resumed }
      if (event === 'problem') {
        const { title, detail } = JSON.parse(data) as { title: string; detail: string }
        yield { refused: `${title}. ${detail}` }
      }
    }
  }

  /** What the visitor has seen, as a code. */
  takeVisit(visit: string, signal?: AbortSignal): Promise<TakeAlong> {
    return this.#json('/take', { query: { visit }, ...(signal && { signal }) })
  }

  takeAlong(exhibit: string, signal?: AbortSignal): Promise<TakeAlong> {
    return this.#json(`/take/${encodeURIComponent(exhibit)}`, { ...(signal && { signal }) })
  }

  diagnostics(pin: string): Promise<Diagnostics> {
    return this.#json('/staff/open', { method: 'POST', body: { pin } })
  }

  /** Takes a photo with the kiosk's own camera and recognises it. */
  photograph(visit: string, signal?: AbortSignal): Promise<Recognition> {
    return this.#json('/photo', { method: 'POST', query: { visit }, wait: photoWait, ...(signal && { signal }) })
  }

  /** Says which exhibit the visitor has in hand. */
  holdExhibit(visit: string, exhibit: string, signal?: AbortSignal): Promise<ExhibitDetail> {
    return this.#json('/visit/exhibit', { method: 'POST', body: { visit, exhibit }, ...(signal && { signal }) })
  }

  async exhibits(query = '', signal?: AbortSignal): Promise<ExhibitCard[]> {
    const list = await this.#json<{ exhibits: ExhibitCard[] | null }>('/exhibits', {
      query: { q: query || undefined },
      ...(signal && { signal }),
    })
    return list.exhibits ?? []
  }

  exhibit(id: string, signal?: AbortSignal): Promise<ExhibitDetail> {
    return this.#json(`/exhibits/${encodeURIComponent(id)}`, { ...(signal && { signal }) })
  }

  passage(id: string, signal?: AbortSignal): Promise<PassageView> {
    return this.#json(`/passages/${encodeURIComponent(id)}`, { ...(signal && { signal }) })
  }

  /** Asks for the default explanation of the exhibit in hand, or an answer to a question. Ends with done or error. */
  async *answer(visit: string, question: string | null, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
    const silence = new AbortController()
    const body = question === null ? { visit, explain: true } : { visit, question }
    let timer: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(timer)
      timer = setTimeout(() => silence.abort(calledOff), answerSilence)
    }
    heard()
    try {
      const response = await this.#call('/ask', {
        method: 'POST',
        body,
        accept: 'text/event-stream',
        signal: AbortSignal.any([signal, silence.signal]),
        wait: 0,
      })
      if (!response.body) throw new Unreachable('the answer has no body')
      for await (const { data } of eventsOf(response.body, heard)) {
        const event = JSON.parse(data) as AnswerEvent
        yield event
        if (event.type === 'done' || event.type === 'error') return
      }
      throw new Unreachable('the answer broke off')
    } catch (error) {
      if (signal.aborted || error instanceof Problem || error instanceof Unreachable) throw error
      throw new Unreachable('the answer broke off', { cause: error })
    } finally {
      clearTimeout(timer)
      silence.abort(calledOff)
    }
  }

  /** The address of the live camera picture. `fresh` makes the browser open a new stream. */
  previewAddress(fresh: number): string {
    return `${this.#base}/preview?n=${fresh}`
  }

  /** The address of a sentence read aloud by the kiosk. */
  speechAddress(visit: string, language: string, text: string): string {
    return `${this.#base}/speech?${new URLSearchParams({ visit, lang: language, text })}`
  }

  /** The address of a picture of the release as it is. */
  wholePictureAddress(picture: string): string {
    return /^(?:\/|blob:|data:)/.test(picture) ? picture : `${this.#base}/pictures/${picture}`
  }

  /** The address of a picture of the release at about the given width in pixels. */
  pictureAddress(picture: string, width: 320 | 640 | 1280): string {
    const path = this.wholePictureAddress(picture)
    return `${path}${path.includes('?') ? '&' : '?'}w=${width}`
  }

  /** Events of a stream that goes on until it is called off; it breaking off is {@link Unreachable}. */
  async *#listen(path: string, query: Record<string, string>, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const response = await this.#call(path, { accept: 'text/event-stream', query, signal, wait: 0 })
    try {
      if (response.body) yield* eventsOf(response.body)
    } catch (error) {
      if (signal.aborted) throw error
      throw new Unreachable(`${path} broke off`, { cause: error })
    }
    if (!signal.aborted) throw new Unreachable(`${path} ended`)
  }

  async #json<T>(path: string, call: Call): Promise<T> {
    const response = await this.#call(path, call)
    try {
      return (await response.json()) as T
    } catch (error) {
      if (call.signal?.aborted) throw error
      throw new Unreachable(`${path} broke off`, { cause: error })
    }
  }

  async #call(path: string, call: Call): Promise<Response> {
    const query = new URLSearchParams()
    for (const [key, value] of Object.entries({ ...call.query, lang: this.language })) {
      if (value !== undefined) query.set(key, value)
    }
    const signals: AbortSignal[] = []
    if (call.signal) signals.push(call.signal)
    const wait = call.wait ?? shortWait
    if (wait > 0) signals.push(AbortSignal.timeout(wait))

    const headers: Record<string, string> = {
      Accept: `${call.accept ?? 'application/json'}, application/problem+json`,
      'Accept-Language': this.language,
    }
    const init: RequestInit = { method: call.method ?? 'GET', headers, cache: 'no-store', credentials: 'same-origin' }
    if (call.body !== undefined) {
      headers['Content-Type'] = 'application/json'
      init.body = JSON.stringify(call.body)
    }
    if (call.keepalive) init.keepalive = true
    if (signals.length > 0) init.signal = AbortSignal.any(signals)

    let response: Response
    try {
      response = await this.#fetch(`${this.#base}${path}?${query}`, init)
    } catch (error) {
      if (call.signal?.aborted) throw error
      throw new Unreachable(`${path} is out of reach`, { cause: error })
    }
    if (!response.ok) throw await problemOf(response)
    return response
  }
}

async function problemOf(response: Response): Promise<Error> {
  const text = await response.text().catch(() => '')
  let body: Record<string, unknown> = {}
  try {
    const parsed: unknown = JSON.parse(text)
    if (parsed && typeof parsed === 'object') body = parsed as Record<string, unknown>
  } catch {
    // Not ours: a proxy's page, or cut off. The status says enough.
  }
  const word = (key: string) => (typeof body[key] === 'string' ? (body[key] as string) : '')
  const code = word('code')
  const gatewayIsDown = code === '' && response.status >= 502 && response.status <= 504
  if (code === 'not_ready' || gatewayIsDown) return new Unreachable(`the server is not ready (${response.status})`)
  return new Problem(response.status, code || 'internal', word('title'), word('detail'))
}
