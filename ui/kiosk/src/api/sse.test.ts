import { describe, expect, test } from 'vitest'
import { EventStreamParser, eventsOf, largestEvent, type ServerSentEvent } from './sse'

function parse(...pieces: string[]): ServerSentEvent[] {
  const parser = new EventStreamParser()
  return pieces.flatMap((piece) => parser.push(piece))
}

describe('EventStreamParser', () => {
  const cases: [name: string, stream: string, events: ServerSentEvent[]][] = [
    ['one event', 'event: token\ndata: {"text":"a"}\n\n', [{ event: 'token', data: '{"text":"a"}' }]],
    ['no name is message', 'data: a\n\n', [{ event: 'message', data: 'a' }]],
    ['a name holds for one event', 'event: x\ndata: 1\n\ndata: 2\n\n', [{ event: 'x', data: '1' }, { event: 'message', data: '2' }]],
    ['several data lines', 'data: a\ndata: b\n\n', [{ event: 'message', data: 'a\nb' }]],
    ['only the first space goes', 'data:  a\n\n', [{ event: 'message', data: ' a' }]],
    ['no space', 'data:a\n\n', [{ event: 'message', data: 'a' }]],
    ['a field without colon is empty', 'data\n\n', [{ event: 'message', data: '' }]],
    ['colons in data', 'data: {"a":1}\n\n', [{ event: 'message', data: '{"a":1}' }]],
    ['comments and other fields', ': hello\nid: 7\nretry: 10\nfoo: bar\ndata: a\n\n', [{ event: 'message', data: 'a' }]],
    ['an event without data is none', 'event: ping\n\ndata: a\n\n', [{ event: 'message', data: 'a' }]],
    ['CR LF', 'event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n', [{ event: 'x', data: 'a' }, { event: 'message', data: 'b' }]],
    ['CR', 'data: a\r\rdata: b\r\r', [{ event: 'message', data: 'a' }, { event: 'message', data: 'b' }]],
    ['byte order mark', '\uFEFFdata: a\n\n', [{ event: 'message', data: 'a' }]],
    ['cut off at the end', 'data: a\n\ndata: b\n', [{ event: 'message', data: 'a' }]],
    ['Chinese', 'data: 叶序\n\n', [{ event: 'message', data: '叶序' }]],
  ]
  test.each(cases)('%s', (_, stream, events) => {
    expect(parse(stream)).toEqual(events)
    expect(parse(...stream), 'character by character').toEqual(events)
    for (let cut = 1; cut < stream.length; cut++) {
      expect(parse(stream.slice(0, cut), stream.slice(cut)), `cut at ${cut}`).toEqual(events)
    }
  })

  test('an event without end is refused before it fills the memory', () => {
    const parser = new EventStreamParser()
    const line = `data: ${'x'.repeat(1 << 16)}\n`
    expect(() => {
      for (let sent = 0; sent <= 2 * largestEvent; sent += line.length) parser.push(line)
    }).toThrow(RangeError)
  })
})

describe('eventsOf', () => {
  function body(bytes: Uint8Array, size: number, cancelled?: () => void): ReadableStream<Uint8Array> {
    let at = 0
    return new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) controller.close()
        else controller.enqueue(bytes.slice(at, (at += size)))
      },
      cancel: () => cancelled?.(),
    })
  }
  const bytes = new TextEncoder().encode('event: token\ndata: 图案馆 – “é” 🌻\n\nevent: done\ndata: {}\n\n')

  test.each([1, 2, 3, 7, 1000])('characters cut every %i bytes', async (size) => {
    const events = []
    for await (const event of eventsOf(body(bytes, size))) events.push(event)
    expect(events).toEqual([
      { event: 'token', data: '图案馆 – “é” 🌻' },
      { event: 'done', data: '{}' },
    ])
  })

  test('a reader that stops early cancels the body', async () => {
    let cancelled = false
    for await (const event of eventsOf(body(bytes, 8, () => (cancelled = true)))) {
      expect(event.event).toBe('token')
      break
    }
    expect(cancelled).toBe(true)
  })
})
