import { calledOff } from '../api/calledoff'
import { Problem, Unreachable } from '../api/client'
import type { AnswerDone, AnswerEvent, AnswerSource } from '../api/contract'
import { completeSentences, spoken } from '../text/marks'
import { languageOf } from '../text/script'

/** waiting → streaming → done; or stopped by the visitor, refused by the server, or broken off on the way. */
export type TurnStatus = 'waiting' | 'streaming' | 'done' | 'stopped' | 'refused' | 'broken'

export class Turn {
  text = $state('')
  stage = $state('')
  sources = $state.raw<AnswerSource[]>([])
  followUps = $state.raw<string[]>([])
  status = $state<TurnStatus>('waiting')
  writtenBy = $state<'' | AnswerDone['written_by']>('')
  /** It is an answer to a question, which may have helped or not. */
  answers = $state(false)
  /** The guide asks back, and its suggestions are the answers to that. */
  asksBack = $state(false)
  /** The language that the server says it is in; empty until it is complete. */
  #language = $state('')
  /** What the server says about a refusal, in the visitor's language; empty where it said nothing. */
  message = $state('')
  /** What the visitor said about it; null: nothing. */
  helpful = $state<boolean | null>(null)

  constructor(
    readonly id: number,
    /** null for the default explanation. */
    readonly question: string | null,
  ) {}

  /** The language of the answer, which is the question's and not always the page's. */
  language(page: string): string {
    return this.#language || languageOf(this.text, page)
  }

  finish(done: AnswerDone): void {
    this.status = 'done'
    this.writtenBy = done.written_by
    this.answers = !done.reply
    this.asksBack = done.reply === 'clarify'
    this.#language = done.language
  }

  get running(): boolean {
    return this.status === 'waiting' || this.status === 'streaming'
  }

  restart(): void {
    this.status = 'waiting'
    this.message = ''
    this.stage = ''
    this.writtenBy = ''
    this.answers = false
    this.asksBack = false
    this.#language = ''
    this.sources = []
    this.followUps = []
    this.text = ''
    this.helpful = null
  }
}

interface ConversationOptions {
  answer: (question: string | null, signal: AbortSignal) => AsyncGenerator<AnswerEvent>
  /** Called with every event of an answer: something is going on. */
  progress: () => void
  unreachable: () => void
}

/** The explanation of the exhibit in hand and the questions asked about it. One answer runs at a time. */
export class Conversation {
  turns = $state<Turn[]>([])
  /** The newest complete sentences, for a screen reader. */
  spoken = $state('')

  readonly #options: ConversationOptions
  #abort = new AbortController()
  #next = 1

  constructor(options: ConversationOptions) {
    this.#options = options
  }

  get current(): Turn | undefined {
    return this.turns.at(-1)
  }

  get busy(): boolean {
    return this.current?.running ?? false
  }

  /** The newest answer that suggests questions. */
  get suggesting(): Turn | undefined {
    return this.turns.findLast((turn) => turn.followUps.length > 0)
  }

  /** The suggestions are answers to a question of the guide's. */
  get asksBack(): boolean {
    return this.suggesting?.asksBack ?? false
  }

  /** Questions that the newest finished answer suggests. */
  get suggestions(): string[] {
    const asked = new Set(this.turns.map((turn) => turn.question))
    const latest = this.suggesting
    return latest?.followUps.filter((question) => !asked.has(question)) ?? []
  }

  explain(): Promise<void> {
    return this.#begin(null)
  }

  ask(question: string): Promise<void> {
    return this.#begin(question)
  }

  /** Asks again for an answer that was refused, stopped or broken off. */
  retry(turn: Turn): Promise<void> {
    if (turn.running) return Promise.resolve()
    this.stop()
    return this.#run(turn)
  }

  /** Takes up an answer that broke off when the server went away. */
  resume(): Promise<void> {
    const turn = this.current
    return turn?.status === 'broken' ? this.retry(turn) : Promise.resolve()
  }

  stop(): void {
    this.#abort.abort(calledOff)
  }

  clear(): void {
    this.stop()
    this.turns = []
    this.spoken = ''
  }

  #begin(question: string | null): Promise<void> {
    this.stop()
    this.turns.push(new Turn(this.#next++, question))
    return this.#run(this.turns.at(-1)!)
  }

  async #run(turn: Turn): Promise<void> {
    const abort = new AbortController()
    this.#abort = abort
    turn.restart()
    let read = 0
    try {
      for await (const event of this.#options.answer(turn.question, abort.signal)) {
        if (abort.signal.aborted) break
        this.#options.progress()
        if (event.type === 'reset') read = 0
        take(turn, event)
        read = this.#announce(turn, read)
      }
      if (turn.running) turn.status = abort.signal.aborted ? 'stopped' : 'broken'
    } catch (error) {
      if (abort.signal.aborted) {
        turn.status = 'stopped'
      } else if (error instanceof Problem) {
        turn.status = 'refused'
        turn.message = error.detail || error.title
      } else {
        turn.status = 'broken'
        if (error instanceof Unreachable) this.#options.unreachable()
        else throw error
      }
    }
  }

  #announce(turn: Turn, from: number): number {
    if (turn.status === 'done') {
      const rest = spoken(turn.text.slice(from)).trim()
      if (rest !== '') this.spoken = rest
      return turn.text.length
    }
    const { sentences, next } = completeSentences(turn.text, from)
    if (sentences !== '') this.spoken = spoken(sentences)
    return next
  }
}

function take(turn: Turn, event: AnswerEvent): void {
  switch (event.type) {
    case 'stage':
      turn.stage = event.stage
      break
    case 'sources':
      turn.sources = event.sources
      break
    case 'token':
      turn.status = 'streaming'
      turn.text += event.text
      break
    case 'follow_ups':
      turn.followUps = event.follow_ups
      break
    case 'reset':
      turn.text = ''
      turn.sources = []
      break
    case 'done':
      turn.finish(event.done)
      break
    case 'error':
      turn.status = 'refused'
      turn.message = event.message
      break
  }
}
