import { afterEach, describe, expect, test, vi } from 'vitest'
import { Client } from '../api/client'
import { Kiosk } from './kiosk.svelte'

const gallery = {
  id: 'g',
  name: { en: 'Gallery', zh: '馆' },
  languages: ['zh', 'en', 'fr'],
  default_language: 'zh',
  release: { id: 'r1', number: 1 },
  halls: [{ id: 'h', name: { en: 'Hall', zh: '厅' }, floor: 0 }],
  kiosk: { id: 'k', hall: 'h', at: [0, 0] },
  camera: 'ready',
  attract: [],
  pictures: [],
  idle_seconds: 60,
}
const card = (id: string) => ({ id, label: '1', title: id, hall: 'h', materials: '' })
const candidate = (id: string) => ({ exhibit: card(id), confidence: 0.9, inliers: 40, outline: null })
const photo = { id: 'p', url: '/p', width: 4, height: 3 }
const done = 'data: {"type":"done","done":{"answered":true,"written_by":"gallery","language":"en","ms":1}}\n\n'

type Answer = (body: Record<string, unknown>, signal: AbortSignal | null | undefined) => Response | Promise<Response>

function json(value: unknown, status = 200): Response {
  return new Response(value === null ? null : JSON.stringify(value), { status })
}

function problem(status: number, code: string, title = '', detail = ''): Response {
  return json({ status, code, title, detail }, status)
}

/** A kiosk before a server that answers as told; what is not told is answered plainly. */
async function kioskBefore(told: Record<string, Answer> = {}) {
  const calls: { path: string; body: Record<string, unknown>; lang: string | null }[] = []
  let visits = 0
  const plain: Record<string, Answer> = {
    '/gallery': () => json(gallery),
    '/visit/start': () => json({ visit: `v${++visits}` }, 201),
    '/visit/end': () => json(null, 204),
    '/visit/language': () => json(null, 204),
    '/visit/level': () => json(null, 204),
    '/visit/exhibit': (body) => json(card(String(body['exhibit']))),
    '/photo': () => json({ photo, decision: 'match', advice: '', candidates: [candidate('a')] }),
    '/exhibits': () => json({ exhibits: [card('a'), card('b')] }),
    '/ask': () => new Response(`data: {"type":"token","text":"Words."}\n\n${done}`),
  }
  const kiosk = new Kiosk(
    new Client('', async (input, init) => {
      const url = new URL(input, 'http://kiosk')
      const body = init.body ? (JSON.parse(String(init.body)) as Record<string, unknown>) : {}
      calls.push({ path: url.pathname, body: { ...body, ...(url.searchParams.has('visit') && { visit: url.searchParams.get('visit') }) }, lang: url.searchParams.get('lang') })
      const answer = told[url.pathname] ?? plain[url.pathname]
      if (!answer) return url.pathname.startsWith('/exhibits/') ? json(card(url.pathname.slice(10))) : problem(404, 'not_found')
      return answer(body, init.signal)
    }),
  )
  await kiosk.open()
  return { kiosk, calls, called: (path: string) => calls.filter((call) => call.path === path) }
}

/** Never answers; fails when it is called off. */
const silent: Answer = (_, signal) => new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
const settled = () => vi.waitFor(() => undefined).then(() => new Promise((resolve) => setTimeout(resolve)))

afterEach(() => void vi.useRealTimers())

describe('languages', () => {
  test('those of gallery and page, the gallery’s default first', async () => {
    const { kiosk } = await kioskBefore()
    expect(kiosk.languages).toEqual(['zh', 'en'])
    expect(kiosk.language).toBe('zh')
    expect(kiosk.hallName('h')).toBe('厅')
    expect(kiosk.in({ fr: 'seul' })).toBe('seul')
  })

  test('English for a gallery whose language the page does not speak', async () => {
    const { kiosk } = await kioskBefore({ '/gallery': () => json({ ...gallery, languages: ['it'], default_language: 'it', name: { it: 'Galleria' } }) })
    expect(kiosk.languages).toEqual(['en'])
    expect(kiosk.in(kiosk.gallery?.name)).toBe('Galleria')
  })

  test('a change is carried to the visit, the exhibit and the explanation', async () => {
    const { kiosk, called } = await kioskBefore()
    kiosk.begin()
    await kiosk.photograph()
    await vi.waitFor(() => expect(kiosk.conversation.busy).toBe(false))
    await kiosk.changeLanguage('en')
    await vi.waitFor(() => expect(kiosk.conversation.current?.status).toBe('done'))
    expect(called('/visit/start')).toHaveLength(1)
    expect(called('/visit/language').map((call) => call.body)).toEqual([{ visit: 'v1', language: 'en' }])
    expect(called('/ask').at(-1)).toMatchObject({ body: { visit: 'v1', explain: true }, lang: 'en' })
    expect(kiosk.screen).toMatchObject({ name: 'exhibit', photo })
    expect(kiosk.conversation.turns).toHaveLength(1)
  })

  test('the next visitor finds everything as usual again', async () => {
    const { kiosk, called } = await kioskBefore()
    kiosk.begin('en')
    expect(kiosk.language).toBe('en')
    await kiosk.photograph()
    await kiosk.choose('child')
    kiosk.comfort.resize(1)
    kiosk.comfort.contrast = kiosk.comfort.low = kiosk.comfort.still = true
    kiosk.lay({ name: 'comfort' })
    expect(called('/visit/level').map((call) => call.body)).toEqual([{ visit: 'v1', level: 'child' }])
    expect(kiosk.seen).toEqual(['a'])
    kiosk.startOver()
    expect(kiosk.language).toBe('zh')
    expect([kiosk.level, kiosk.seen, kiosk.over, kiosk.comfort.changed]).toEqual(['general', [], null, false])
  })

  test('a visit begun anew is for the same audience', async () => {
    let forgot = 0
    const { kiosk, called } = await kioskBefore({
      '/ask': () => (++forgot === 3 ? problem(404, 'no_such_visit') : new Response(`data: {"type":"token","text":"Words."}\n\n${done}`)),
    })
    kiosk.begin()
    await kiosk.photograph()
    await kiosk.choose('expert')
    await vi.waitFor(() => expect(kiosk.conversation.busy).toBe(false))
    await kiosk.conversation.ask('?')
    expect(called('/visit/level').map((call) => call.body)).toEqual([{ visit: 'v1', level: 'expert' }, { visit: 'v2', level: 'expert' }])
    kiosk.close()
  })
})

describe('photograph', () => {
  test.each([
    ['match', [candidate('a')], 'exhibit'],
    ['choose', [candidate('a'), candidate('b')], 'choose'],
    ['unknown', [], 'unknown'],
    ['unknown', [candidate('a')], 'unknown'],
    ['match', [], 'unknown'],
  ])('%s of %o shows %s', async (decision, candidates, screen) => {
    const { kiosk, called } = await kioskBefore({ '/photo': () => json({ photo, decision, advice: '', candidates }) })
    kiosk.begin()
    await kiosk.photograph()
    expect(kiosk.screen.name).toBe(screen)
    await settled()
    expect(called('/ask')).toHaveLength(screen === 'exhibit' ? 1 : 0)
    kiosk.close()
  })

  test('one at a time', async () => {
    const { kiosk, called } = await kioskBefore()
    kiosk.begin()
    await Promise.all([kiosk.photograph(), kiosk.photograph()])
    expect(called('/photo')).toHaveLength(1)
    kiosk.close()
  })

  test('a refusal is shown in the server’s words, and the camera stays', async () => {
    const { kiosk } = await kioskBefore({ '/photo': () => problem(503, 'busy', 'Busy', 'One at a time.') })
    kiosk.begin()
    await kiosk.photograph()
    expect(kiosk.screen).toEqual({ name: 'camera', busy: false })
    expect(kiosk.notice).toEqual({ title: 'Busy', detail: 'One at a time.' })
    await kiosk.photograph()
    kiosk.close()
  })

  test('a refusal for darkness is advice', async () => {
    const { kiosk } = await kioskBefore({ '/photo': () => problem(422, 'too_dark') })
    kiosk.begin()
    await kiosk.photograph()
    expect(kiosk.notice).toEqual(kiosk.text.advice.too_dark)
    kiosk.close()
  })
})

describe('visits', () => {
  test('one for all calls that need it, begun with the first touch', async () => {
    const { kiosk, called } = await kioskBefore()
    expect(called('/visit/start')).toHaveLength(0)
    kiosk.begin()
    await kiosk.photograph()
    kiosk.browse('list')
    await kiosk.pick(card('b'))
    expect(called('/visit/start')).toHaveLength(1)
    expect(called('/photo')[0]?.body['visit']).toBe('v1')
    kiosk.close()
  })

  test('one that the server forgot is begun anew', async () => {
    let forgot = true
    const { kiosk, called } = await kioskBefore({
      '/ask': () => {
        if (!forgot) return new Response(`data: {"type":"token","text":"Words."}\n\n${done}`)
        forgot = false
        return problem(404, 'no_such_visit', 'Over', 'Over.')
      },
    })
    kiosk.begin()
    await kiosk.photograph()
    await vi.waitFor(() => expect(kiosk.conversation.current?.status).toBe('done'))
    expect(kiosk.conversation.current?.text).toBe('Words.')
    expect(called('/visit/exhibit').at(-1)?.body).toEqual({ visit: 'v2', exhibit: 'a' })
    expect(called('/ask').map((call) => call.body['visit'])).toEqual(['v1', 'v2'])
    kiosk.close()
  })

  test('start over ends the visit and forgets all', async () => {
    const { kiosk, called } = await kioskBefore({ '/ask': silent })
    kiosk.begin()
    await kiosk.photograph()
    expect(kiosk.conversation.busy).toBe(true)
    const before = kiosk.turnOver
    kiosk.startOver()
    await settled()
    expect(kiosk.screen).toEqual({ name: 'attract' })
    expect(kiosk.conversation.turns).toEqual([])
    expect(kiosk.turnOver).toBe(before + 1)
    expect(called('/visit/end').map((call) => call.body)).toEqual([{ visit: 'v1' }])
    kiosk.begin()
    await settled()
    expect(called('/visit/start')).toHaveLength(2)
    kiosk.close()
  })

  test('what comes late is not shown to the next visitor', async () => {
    let answer: (response: Response) => void = () => undefined
    const { kiosk } = await kioskBefore({ '/photo': () => new Promise((resolve) => (answer = resolve)) })
    kiosk.begin()
    const photographing = kiosk.photograph()
    await settled()
    kiosk.startOver()
    kiosk.begin()
    answer(json({ photo, decision: 'match', advice: '', candidates: [candidate('a')] }))
    await photographing
    expect(kiosk.screen).toEqual({ name: 'camera', busy: false })
    kiosk.close()
  })
})

describe('without', () => {
  test('a camera, the list comes first', async () => {
    const { kiosk } = await kioskBefore({ '/gallery': () => json({ ...gallery, camera: 'none' }) })
    kiosk.begin()
    expect(kiosk.screen).toEqual({ name: 'browse', by: 'list' })
    await vi.waitFor(() => expect(kiosk.catalogue.status).toBe('ready'))
    expect(kiosk.catalogue.matching('B').map((exhibit) => exhibit.id)).toEqual(['b'])
    kiosk.close()
  })

  test('numbers beside the exhibits, none is asked for', async () => {
    const { kiosk } = await kioskBefore({ '/exhibits': () => json({ exhibits: [{ ...card('a'), label: '' }] }) })
    expect(kiosk.catalogue.numbered).toBe(true)
    kiosk.begin()
    await vi.waitFor(() => expect(kiosk.catalogue.numbered).toBe(false))
    kiosk.close()
  })

  test('a server, it waits and goes on by itself', async () => {
    vi.useFakeTimers()
    let up = false
    const { kiosk } = await kioskBefore({
      '/gallery': () => {
        if (up) return json(gallery)
        throw new TypeError('Failed to fetch')
      },
    })
    expect(kiosk.connection.lost).toBe(true)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(kiosk.gallery).toBeNull()
    up = true
    await vi.advanceTimersByTimeAsync(10_000)
    expect(kiosk.connection.lost).toBe(false)
    expect(kiosk.gallery?.id).toBe('g')
    kiosk.close()
  })
})
