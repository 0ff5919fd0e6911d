import { describe, expect, test, vi } from 'vitest'
import { answerSilence, Client, Problem, Unreachable } from './client'
import type { AnswerEvent } from './contract'

interface Sent {
  url: URL
  init: RequestInit
}

function clientOf(answer: (sent: Sent) => Response | Promise<Response>) {
  const sent: Sent[] = []
  const client = new Client('/api/v1', async (input, init) => {
    const request = { url: new URL(input, 'http://kiosk'), init }
    sent.push(request)
    return answer(request)
  })
  return { client, sent }
}

const json = (value: unknown, status = 200, type = 'application/json') =>
  new Response(JSON.stringify(value), { status, headers: { 'Content-Type': type } })

const stream = (...events: AnswerEvent[]) =>
  new Response(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''), {
    headers: { 'Content-Type': 'text/event-stream' },
  })

async function all<T>(items: AsyncGenerator<T>): Promise<T[]> {
  const list = []
  for await (const item of items) list.push(item)
  return list
}

describe('Client', () => {
  test('speaks the visitor’s language', async () => {
    const { client, sent } = clientOf(() => json({ exhibits: null }))
    client.language = 'zh'
    expect(await client.exhibits('砖')).toEqual([])
    expect(sent[0]?.url.pathname).toBe('/api/v1/exhibits')
    expect(Object.fromEntries(sent[0]!.url.searchParams)).toEqual({ q: '砖', lang: 'zh' })
    expect(new Headers(sent[0]!.init.headers).get('Accept-Language')).toBe('zh')
  })

  test('a photo of the kiosk’s own camera has no body', async () => {
    const { client, sent } = clientOf(() => json({}))
    await client.photograph('v1')
    expect(sent[0]).toMatchObject({ init: { method: 'POST' } })
    expect(sent[0]!.init.body).toBeUndefined()
    expect(sent[0]!.url.searchParams.get('visit')).toBe('v1')
  })

  test('names in paths are escaped', async () => {
    const { client, sent } = clientOf(() => json({}))
    await client.passage('penrose-tiling/en/2#1')
    expect(sent[0]!.url.pathname).toBe('/api/v1/passages/penrose-tiling%2Fen%2F2%231')
  })

  const failures: [name: string, response: () => Response, error: object, kind: typeof Problem | typeof Unreachable][] = [
    [
      'problem details',
      () => json({ code: 'question_empty', title: 'Empty', detail: 'Please ask something.', status: 400 }, 400, 'application/problem+json'),
      { status: 400, code: 'question_empty', title: 'Empty', detail: 'Please ask something.' },
      Problem,
    ],
    ['an error without words', () => new Response('', { status: 500 }), { status: 500, code: 'internal', title: '', detail: '' }, Problem],
    ['odd words', () => json({ title: 7, detail: null }, 500), { code: 'internal', title: '', detail: '' }, Problem],
    ['a busy server', () => json({ code: 'busy', title: 'Busy' }, 503), { code: 'busy' }, Problem],
    ['a gateway without server', () => new Response('<html>502</html>', { status: 502 }), {}, Unreachable],
    ['not ready', () => json({ code: 'not_ready' }, 503), {}, Unreachable],
    ['half a document', () => new Response('{"id":'), {}, Unreachable],
    [
      'no server',
      () => {
        throw new TypeError('Failed to fetch')
      },
      {},
      Unreachable,
    ],
  ]
  test.each(failures)('%s', async (_, response, fields, kind) => {
    const { client } = clientOf(response)
    const error = await client.gallery().then(
      () => null,
      (e: unknown) => e,
    )
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject(fields)
  })

  test('a call that was called off is neither', async () => {
    const abort = new AbortController()
    const { client } = clientOf(({ init }) => new Promise((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason))))
    const call = client.gallery(abort.signal)
    abort.abort()
    await expect(call).rejects.toHaveProperty('name', 'AbortError')
  })
})

describe('answer', () => {
  const done: AnswerEvent = { type: 'done', done: { answered: true, written_by: 'gallery', language: 'en', ms: 1 } }
  const token: AnswerEvent = { type: 'token', text: 'Seeds turn.' }
  const never = new AbortController().signal

  test('asks for the explanation, or a question', async () => {
    const { client, sent } = clientOf(() => stream(token, done))
    expect(await all(client.answer('v1', null, never))).toEqual([token, done])
    await all(client.answer('v1', 'Why?', never))
    expect(sent.map(({ init }) => JSON.parse(String(init.body)))).toEqual([
      { visit: 'v1', explain: true },
      { visit: 'v1', question: 'Why?' },
    ])
  })

  test('nothing after done', async () => {
    const { client } = clientOf(() => stream(token, done, token))
    expect(await all(client.answer('v1', null, never))).toEqual([token, done])
  })

  test.each([
    ['ends too early', stream(token)],
    ['is not JSON', new Response('data: {"type":\n\n')],
  ])('an answer that %s', async (_, response) => {
    const { client } = clientOf(() => response)
    await expect(all(client.answer('v1', null, never))).rejects.toBeInstanceOf(Unreachable)
  })

  test('a silent server counts as gone, one that only shows that it is there does not', async () => {
    vi.useFakeTimers()
    try {
      let say: (text: string) => void = () => undefined
      const { client } = clientOf(
        ({ init }) =>
          new Response(
            new ReadableStream({
              start(controller) {
                say = (text) => controller.enqueue(new TextEncoder().encode(text))
                init.signal?.addEventListener('abort', () => controller.error(init.signal?.reason))
              },
            }),
          ),
      )
      let outcome: unknown = 'waiting'
      all(client.answer('v1', null, never)).catch((error: unknown) => (outcome = error))
      for (let i = 0; i < 10; i++) {
        await vi.advanceTimersByTimeAsync(answerSilence - 1)
        say(':\n\n')
      }
      expect(outcome).toBe('waiting')
      await vi.advanceTimersByTimeAsync(answerSilence + 1)
      expect(outcome).toBeInstanceOf(Unreachable)
    } finally {
      vi.useRealTimers()
    }
  })

  test('stops reading when the visitor stops it', async () => {
    const abort = new AbortController()
    let cancelled = false
    const { client } = clientOf(
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(token)}\n\n`)),
            cancel: () => void (cancelled = true),
          }),
        ),
    )
    for await (const event of client.answer('v1', null, abort.signal)) {
      expect(event).toEqual(token)
      break
    }
    expect(cancelled).toBe(true)
  })
})

test('picture addresses', () => {
  const { client } = clientOf(() => json({}))
  expect(client.pictureAddress('/api/v1/pictures/a.png', 640)).toBe('/api/v1/pictures/a.png?w=640')
  expect(client.pictureAddress('/api/v1/pictures/a.png?r=2', 320)).toBe('/api/v1/pictures/a.png?r=2&w=320')
  expect(client.pictureAddress('pictures/a.png', 320)).toBe('/api/v1/pictures/pictures/a.png?w=320')
})
