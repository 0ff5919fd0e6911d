/** One server-sent event. */
export interface ServerSentEvent {
  event: string
  data: string
}

/** The most text one event may hold before its end is seen, in UTF-16 units. */
export const largestEvent = 1 << 20

/**
 * Reads an event stream piece by piece, as the WHATWG HTML standard (§9.2.6) says: lines end in CR LF, LF or CR, several
 * data lines join with a line feed, comments and unknown fields are passed over, and an event that the stream ends in the
 * middle of is dropped. Pieces may be cut anywhere.
 */
export class EventStreamParser {
  #line = ''
  #event = ''
  #data: string[] = []
  #held = 0
  #atStart = true
  #afterCarriageReturn = false

  /** Takes the next piece of text and returns the events that it completes. */
  push(piece: string): ServerSentEvent[] {
    if (piece === '') return []
    let text = piece
    if (this.#atStart) {
      this.#atStart = false
      if (text.startsWith('\uFEFF')) text = text.slice(1)
    }
    const events: ServerSentEvent[] = []
    let from = 0
    for (let i = 0; i < text.length; i++) {
      const char = text[i]
      if (char !== '\n' && char !== '\r') {
        this.#afterCarriageReturn = false
        continue
      }
      if (char === '\n' && this.#afterCarriageReturn) {
        this.#afterCarriageReturn = false
        from = i + 1
        continue
      }
      this.#afterCarriageReturn = char === '\r'
      const event = this.#endLine(this.#line + text.slice(from, i))
      if (event) events.push(event)
      this.#line = ''
      from = i + 1
    }
    this.#line += text.slice(from)
    if (this.#line.length + this.#held > largestEvent) {
      throw new RangeError(`an event is longer than ${largestEvent} characters`)
    }
    return events
  }

  #endLine(line: string): ServerSentEvent | null {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    if (colon === 0) return null
    const field = colon < 0 ? line : line.slice(0, colon)
    let value = colon < 0 ? '' : line.slice(colon + 1)
    if (value.startsWith(' ')) value = value.slice(1)
    if (field === 'event') this.#event = value
    if (field === 'data') {
      this.#data.push(value)
      this.#held += value.length
    }
    return null
  }

  #dispatch(): ServerSentEvent | null {
    const data = this.#data
    const event = this.#event || 'message'
    this.#data = []
    this.#event = ''
    this.#held = 0
    return data.length > 0 ? { event, data: data.join('\n') } : null
  }
}

/**
 * Reads the events of a response's body until it ends. Cancels the body when the reader stops early. Calls `heard` with
 * every piece that comes, comments too, which servers send to show that they are there.
 */
export async function* eventsOf(body: ReadableStream<Uint8Array>, heard: () => void = () => undefined): AsyncGenerator<ServerSentEvent> {
  const parser = new EventStreamParser()
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const reader = body.getReader()
  let ended = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) {
        ended = true
        return
      }
      heard()
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    if (!ended) await reader.cancel().catch(() => undefined)
  }
}
