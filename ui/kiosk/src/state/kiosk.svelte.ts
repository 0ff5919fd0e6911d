import { calledOff } from '../api/calledoff'
import { type Client, Problem, Unreachable } from '../api/client'
import type { AnswerEvent, Candidate, ExhibitCard, ExhibitDetail, Gallery, HouseScreen, Level, Localized, Outline, Photo, Recognition, Resumed, Route } from '../api/contract'
import { languageNames, pageLanguages, strings, type PageLanguage, type Strings } from '../i18n/strings'
import { Reader } from '../speech/reader.svelte'
import { Typing } from '../typing/typing.svelte'
import { Catalogue } from './catalogue.svelte'
import { Comfort } from './comfort.svelte'
import { Connection } from './connection.svelte'
import { Conversation, type Turn } from './conversation.svelte'
import { openState, type OpenState } from './hours'
import { Pulse } from '../shell/pulse.svelte'
import { IdleWatch } from './idle.svelte'
import type { Notice, Over, Screen, Staff } from './screen'
import { isForgotten, Visit } from './visit'

const defaultIdleSeconds = 60

/** One kiosk page: the gallery it shows, the visit that is going on, and the screen the visitor sees. */
export class Kiosk {
  gallery = $state.raw<Gallery | null>(null)
  language = $state<PageLanguage>('en')
  screen = $state.raw<Screen>({ name: 'attract' })
  /** What did not work just now; shown over any screen until the next step. */
  notice = $state.raw<Notice | null>(null)
  /** What lies over the screen. */
  over = $state.raw<Over | null>(null)
  /** The audience that answers are made for. */
  level = $state<Level>('general')
  /** Exhibits that the visitor has had in hand, the first first. */
  seen = $state.raw<string[]>([])
  /** The message that covers everything. */
  emergency = $state.raw<Localized | null>(null)
  /** What the house has set for the screen; null until the kiosk has said it. */
  house = $state.raw<HouseScreen | null>(null)
  staff = $state.raw<Staff | null>(null)
  /** The language in which somebody who has just left is thanked; their visit is over. */
  farewell = $state<PageLanguage | null>(null)
  hours = $state.raw<OpenState | null>(null)
  /** The walk that the visitor has had planned. */
  route = $state.raw<Route | null>(null)
  /** Counts visits, so that nothing of one screen is kept for the next visitor. */
  turnOver = $state(0)

  readonly client: Client
  readonly connection: Connection
  readonly conversation: Conversation
  readonly catalogue: Catalogue
  readonly idle: IdleWatch
  readonly comfort = new Comfort()
  readonly typing = new Typing()
  readonly pulse = new Pulse(() => location.reload())
  readonly reader: Reader

  readonly #visit: Visit
  #signals = new AbortController()
  /** Counts the steps from screen to screen, so that what comes late finds out that the visitor has gone on. */
  #step = 0
  #abort = new AbortController()

  constructor(client: Client) {
    this.client = client
    this.connection = new Connection(
      () => this.#load(),
      () => {
        void this.#listen()
        this.#back()
      },
    )
    this.#visit = new Visit(client, {
      language: () => this.language,
      level: () => this.level,
      exhibit: () => (this.screen.name === 'exhibit' ? this.screen.exhibit.id : null),
      signal: () => this.#abort.signal,
    })
    const unreachable = () => this.connection.report()
    this.conversation = new Conversation({
      answer: (question, signal) => this.#answer(question, signal),
      progress: () => this.idle.touch(),
      unreachable,
    })
    this.catalogue = new Catalogue(client, unreachable)
    this.idle = new IdleWatch({
      after: () => this.gallery?.idle_seconds || defaultIdleSeconds,
      expire: () => this.#clear(),
    })
    this.reader = new Reader({
      address: async (language, text) => client.speechAddress(await this.#visit.current(), language, text),
      volume: () => (this.comfort.volume * (this.house?.volume ?? 100)) / 100,
      hold: () => this.idle.hold(),
    })
  }

  get text(): Strings {
    return strings[this.language]
  }

  /** The languages that both the gallery and this page speak, the gallery's default first; English where there is none. */
  get languages(): PageLanguage[] {
    const gallery = this.gallery
    if (!gallery) return [...pageLanguages]
    const both = pageLanguages.filter((language) => gallery.languages.includes(language))
    if (both.length === 0) return ['en']
    const first = gallery.default_language
    return both.sort((a, b) => Number(b === first) - Number(a === first))
  }

  get languageTag(): string {
    return this.tagOf(this.language)
  }

  /** For the lang attribute. */
  tagOf(language: PageLanguage): string {
    return languageNames[language].tag
  }

  /** The lang attribute of a text that may be in another language than the page; nothing where it is in the page's. */
  langOf(language: string): string | undefined {
    const own = pageLanguages.find((l) => l === language)
    return language === this.language ? undefined : own ? this.tagOf(own) : language
  }

  textIn(language: PageLanguage): Strings {
    return strings[language]
  }

  /** Whether texts in the visitor's language can be read aloud, by the browser or by the kiosk. */
  get canSpeak(): boolean {
    return this.reader.speaks(this.language, this.gallery?.features?.speech ?? [])
  }

  /** What is written on the screen and in the list: words that a visitor may want to type. */
  vocabulary(): string[] {
    const texts = this.catalogue.exhibits.flatMap((exhibit) => [exhibit.title, exhibit.maker ?? ''])
    for (const hall of this.gallery?.halls ?? []) texts.push(this.in(hall.name, 'zh'))
    if (this.screen.name === 'exhibit') {
      const { title, maker, materials, sections } = this.screen.exhibit
      texts.push(title, maker ?? '', materials ?? '', ...(sections ?? []).flatMap((section) => [section.heading, section.text]))
    }
    for (const turn of this.conversation.turns) texts.push(turn.question ?? '', turn.text, ...turn.followUps)
    return texts
  }

  /** A text of the gallery in the visitor's language, else in any. */
  in(text: Localized | undefined, language: string = this.language): string {
    if (!text) return ''
    return text[language] || text[this.gallery?.default_language ?? ''] || Object.values(text).find(Boolean) || ''
  }

  hallName(id: string): string {
    return this.in(this.gallery?.halls.find((hall) => hall.id === id)?.name) || id
  }

  /** Loads the gallery for the first time. */
  async open(): Promise<void> {
    void this.#listen() // an emergency is shown also where there is nothing else to show
    try {
      await this.#load()
    } catch {
      this.connection.report()
    }
  }

  /** Asks again how the camera is and which release is shown. */
  async refresh(): Promise<void> {
    if (this.connection.lost) return
    try {
      await this.#load()
    } catch (error) {
      if (error instanceof Unreachable) this.connection.report()
    }
  }

  /** The first touch. */
  begin(language: PageLanguage = this.language): void {
    if (this.screen.name !== 'attract' || !this.gallery) return
    this.farewell = null
    this.#speak(language)
    this.idle.start()
    if (this.gallery.camera === 'none') this.browse('list')
    else this.camera()
    void this.catalogue.load()
    this.#visit.within(async () => undefined).catch((error) => this.#trouble(error))
  }

  camera(): void {
    this.#go({ name: 'camera', busy: false })
    void this.refresh()
  }

  browse(by: 'list' | 'number'): void {
    this.#go({ name: 'browse', by })
    void this.catalogue.load()
  }

  dismiss(): void {
    this.notice = null
  }

  /** Lays something over the screen. */
  lay(over: Over): void {
    this.reader.stop()
    this.typing.close()
    this.over = over
  }

  uncover(): void {
    this.reader.stop()
    this.over = null
  }

  /** Opens the comparison of the exhibit in hand with another. */
  async compare(other: ExhibitCard): Promise<void> {
    const { signal } = this.#abort
    const before = this.over
    try {
      const detail = await this.client.exhibit(other.id, signal)
      if (!signal.aborted && this.over === before) this.over = { name: 'compare', other: detail }
    } catch (error) {
      if (!signal.aborted) this.#trouble(error)
    }
  }

  /** Chooses the audience; what is explained is explained anew for it. */
  async choose(level: Level): Promise<void> {
    this.over = null
    if (level === this.level) return
    this.level = level
    const { signal } = this.#abort
    const step = this.#step
    this.conversation.clear()
    try {
      await this.#visit.within((visit) => this.client.setLevel(visit, level, signal))
      if (!signal.aborted && this.#step === step && this.screen.name === 'exhibit') void this.conversation.explain()
    } catch (error) {
      if (!signal.aborted) this.#trouble(error)
    }
  }

  /** Takes a photo with the kiosk's camera and goes where the recognition leads. */
  async photograph(): Promise<void> {
    if (this.screen.name !== 'camera' || this.screen.busy) return
    this.#go({ name: 'camera', busy: true })
    const { signal } = this.#abort
    const release = this.idle.hold()
    try {
      const seen = await this.#visit.within((visit) => this.client.photograph(visit, signal))
      if (!signal.aborted) this.#recognised(seen)
    } catch (error) {
      if (!signal.aborted) this.#trouble(error)
    } finally {
      release()
    }
  }

  /** Goes where a photo that came from a phone leads. */
  received(seen: Recognition): void {
    if (this.over?.name === 'phone') this.#recognised(seen)
  }

  #recognised(seen: Recognition): void {
    const [first] = seen.candidates
    if (seen.decision === 'match' && first) {
      this.#show(first.exhibit, seen.photo, first.outline, true, seen.candidates.slice(1, 3))
    } else if (seen.decision === 'choose' && first) {
      this.#go({ name: 'choose', photo: seen.photo, candidates: seen.candidates.slice(0, 3) })
    } else {
      this.#go({ name: 'unknown', photo: seen.photo, advice: seen.advice, candidates: seen.candidates.slice(0, 3) })
    }
  }

  /** Runs a call in the visit for a part of the screen; its trouble is shown, and undefined returned. */
  async within<T>(call: (visit: string, signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { signal } = this.#abort
    try {
      return await this.#visit.within((visit) => call(visit, signal))
    } catch (error) {
      if (!signal.aborted) this.#trouble(error)
      return undefined
    }
  }

  /** Goes on with a visit that began elsewhere; the one under way here ends. Returns why that cannot be, in the visitor's words. */
  async goOn(find: (signal: AbortSignal) => Promise<Resumed>): Promise<string | null> {
    const { signal } = this.#abort
    try {
      const found = await find(signal)
      if (signal.aborted) return null
      this.#visit.leave()
      this.#visit.goOn(found.visit)
      const language = this.languages.find((l) => l === found.language)
      if (language) this.#speak(language)
      this.level = found.level ?? 'general'
      this.seen = found.seen
      if (found.exhibit) this.#show(found.exhibit, null, null, false)
      else if (this.gallery?.camera === 'none') this.browse('list')
      else this.camera()
      return null
    } catch (error) {
      if (signal.aborted) return null
      if (error instanceof Problem) return `${error.title}. ${error.detail}`
      this.#trouble(error)
      return null
    }
  }

  /** Says whether the newest answer helped. It is of no consequence to the visitor whether it arrives. */
  judge(turn: Turn, helpful: boolean): void {
    if (turn.helpful !== null || this.screen.name !== 'exhibit') return
    turn.helpful = helpful
    const exhibit = this.screen.exhibit.id
    const sources = turn.sources.map((source) => source.passage).slice(0, 12)
    void this.#visit.current()
      .then((visit) => this.client.sendFeedback({ kind: 'answer', visit, exhibit, sources, helpful }))
      .catch(() => undefined)
  }

  /** The visitor says which exhibit it is: from the cards, the list or the number pad. */
  async pick(exhibit: ExhibitCard, photo: Photo | null = null, outline: Outline | null = null, also: Candidate[] = []): Promise<void> {
    const { signal } = this.#abort
    const step = this.#step
    try {
      const held = await this.#visit.within((visit) => this.client.holdExhibit(visit, exhibit.id, signal))
      if (!signal.aborted && this.#step === step) this.#show({ ...exhibit, ...held }, photo, outline, false, also)
    } catch (error) {
      if (!signal.aborted) this.#trouble(error)
    }
  }

  /** Turns to another exhibit on the same photo; the one before can be turned to again. */
  async turnTo(candidate: Candidate): Promise<void> {
    if (this.screen.name !== 'exhibit') return
    const { exhibit, photo, outline, also } = this.screen
    const others = [{ exhibit, confidence: 1, inliers: 0, outline }, ...also.filter((c) => c.exhibit.id !== candidate.exhibit.id)]
    await this.pick(candidate.exhibit, photo, candidate.outline, others)
  }

  /** Speaks another language from here on; what is on the screen is fetched anew in it. */
  async changeLanguage(language: PageLanguage): Promise<void> {
    if (language === this.language) return
    this.#speak(language)
    if (this.screen.name === 'attract') return
    const { signal } = this.#abort
    const screen = this.screen
    const step = this.#step
    const overtaken = () => signal.aborted || this.#step !== step || this.language !== language
    this.reader.stop()
    this.typing.close()
    this.conversation.clear()
    this.route = null // its stops are named in the language before
    try {
      await this.#visit.within((visit) => this.client.setLanguage(visit, language, signal))
      if (overtaken()) return
      if (screen.name === 'browse') await this.catalogue.load()
      if (screen.name === 'choose' || screen.name === 'unknown') {
        const candidates = await Promise.all(
          screen.candidates.map(async (c) => ({ ...c, exhibit: await this.client.exhibit(c.exhibit.id, signal) })),
        )
        if (!overtaken()) this.screen = { ...screen, candidates }
      }
      if (screen.name === 'exhibit') {
        const [exhibit, ...others] = await Promise.all(
          [screen.exhibit, ...screen.also.map((c) => c.exhibit)].map((e) => this.client.exhibit(e.id, signal)),
        )
        if (overtaken() || !exhibit) return
        this.screen = { ...screen, exhibit, also: screen.also.map((c, i) => ({ ...c, exhibit: others[i] ?? c.exhibit })) }
        void this.conversation.explain()
      }
    } catch (error) {
      if (!signal.aborted) this.#trouble(error)
    }
  }

  /** The visitor leaves: the visit ends, all of it is forgotten, and who has seen something is thanked. */
  startOver(): void {
    const { language } = this
    const thank = this.seen.length > 0
    this.#clear()
    if (thank) this.farewell = language
  }

  /** Ends the visit and forgets all of it. */
  #clear(): void {
    this.#visit.leave()
    this.#abort.abort(calledOff)
    this.#abort = new AbortController()
    this.#visit.forget()
    this.idle.stop()
    this.catalogue.clear()
    this.comfort.reset()
    this.level = 'general'
    this.seen = []
    this.route = null
    this.farewell = null
    this.#go({ name: 'attract' })
    this.turnOver++
    const [language] = this.languages
    if (language) this.#speak(language)
    void this.refresh()
  }

  /** The page goes away: tell the server, so that it need not wait for the visit to run out. */
  close(): void {
    this.#visit.leave()
    this.#abort.abort(calledOff)
    this.conversation.clear()
    this.#signals.abort(calledOff)
    this.connection.close()
    this.reader.stop()
    this.idle.stop()
  }

  #go(screen: Screen): void {
    this.#step++
    this.conversation.clear()
    this.reader.stop()
    this.typing.close()
    this.notice = null
    this.over = null
    this.screen = screen
  }

  #speak(language: PageLanguage): void {
    if (language !== this.language) this.catalogue.clear()
    this.language = language
    this.client.language = language
  }

  /** Hears what must be shown at once. Losing it means that the server is away. */
  async #listen(): Promise<void> {
    this.#signals.abort(calledOff)
    const { signal } = (this.#signals = new AbortController())
    try {
      for await (const heard of this.client.signals(signal)) {
        if ('house' in heard) {
          this.#obey(heard.house)
          continue
        }
        this.emergency = heard.emergency
        if (heard.emergency) this.reader.stop()
      }
    } catch (error) {
      if (!signal.aborted && error instanceof Unreachable) this.connection.report()
    }
  }

  /** Does what the house has set for the screen. */
  #obey(house: HouseScreen): void {
    if (this.house && house.reload > this.house.reload) {
      location.reload()
      return
    }
    if (house.asleep) this.reader.stop()
    this.house = house
  }

  /** Whether the house is open, for the look of the waiting screen. */
  async lookAtHours(now: Date): Promise<void> {
    try {
      this.hours = openState(await this.client.venue(), now)
    } catch {
      this.hours = null // it looks as by day
    }
  }

  async #load(): Promise<void> {
    const before = this.gallery
    const gallery = await this.client.gallery()
    this.gallery = gallery
    if (before?.release.id !== gallery.release.id) this.catalogue.clear()
    const [language] = this.languages
    if (this.screen.name === 'attract' && language && before?.release.id !== gallery.release.id) this.#speak(language)
  }

  #back(): void {
    if (this.screen.name === 'camera') this.camera()
    if (this.screen.name === 'browse') void this.catalogue.load()
    if (this.screen.name === 'exhibit') void this.conversation.resume()
  }

  #show(exhibit: ExhibitDetail, photo: Photo | null, outline: Outline | null, recognised: boolean, also: Candidate[] = []): void {
    this.#go({ name: 'exhibit', exhibit, photo, outline, recognised, also })
    this.seen = [...this.seen.filter((id) => id !== exhibit.id), exhibit.id]
    void this.conversation.explain()
    if (exhibit.sections === undefined) void this.#completeLabel(exhibit.id)
  }

  /** Adds the label and the texts to the title, which the cards lack. The screen does without where they cannot be had. */
  async #completeLabel(id: string): Promise<void> {
    const { signal } = this.#abort
    const { language } = this
    const detail = await this.client.exhibit(id, signal).catch(() => null)
    if (!detail || signal.aborted || language !== this.language) return
    if (this.screen.name !== 'exhibit' || this.screen.exhibit.id !== id) return
    this.screen = { ...this.screen, exhibit: { ...this.screen.exhibit, ...detail } }
  }

  #trouble(error: unknown): void {
    if (this.screen.name === 'camera' && this.screen.busy) this.screen = { name: 'camera', busy: false }
    if (error instanceof Problem) {
      const fallback = this.text.genericTrouble
      const advice = error.code === 'too_dark' || error.code === 'blurred' ? this.text.advice[error.code] : null
      this.notice = advice ?? { title: error.title || fallback.title, detail: error.detail || fallback.detail }
      if (error.code === 'no_camera') void this.refresh()
      return
    }
    if (error instanceof Unreachable) {
      this.connection.report()
      return
    }
    throw error
  }

  async *#answer(question: string | null, signal: AbortSignal): AsyncGenerator<AnswerEvent> {
    const visit = await this.#visit.current()
    try {
      yield* this.client.answer(visit, question, signal)
    } catch (error) {
      if (!isForgotten(error) || this.screen.name !== 'exhibit') throw error
      yield* this.client.answer(await this.#visit.renew(), question, signal)
    }
  }
}
