import { describe, expect, test, vi } from 'vitest'
import { Problem, Unreachable } from '../api/client'
import type { AnswerEvent, AnswerSource } from '../api/contract'
import { Conversation } from './conversation.svelte'

const source: AnswerSource = { n: 1, passage: 'a/en/1#1', section: 'a/en/1', title: 'A', heading: 'H', quote: 'Q', document: 'a.md' }
const done: AnswerEvent = { type: 'done', done: { answered: true, written_by: 'gallery', language: 'en', ms: 1 } }
const token = (text: string): AnswerEvent => ({ type: 'token', text })

type Step = AnswerEvent | Error | 'wait'

/** A conversation whose answers are scripted, one script for each answer in turn. */
function scripted(...answers: Step[][]) {
  const unreachable = vi.fn()
  const asked: (string | null)[] = []
  const conversation = new Conversation({
    progress: () => undefined,
    unreachable,
    answer: async function* (question, signal) {
      asked.push(question)
      for (const step of answers[asked.length - 1] ?? []) {
        if (step === 'wait') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
        else if (step instanceof Error) throw step
        else yield step
      }
    },
  })
  return { conversation, asked, unreachable }
}

describe('Conversation', () => {
  test('takes an answer in', async () => {
    const { conversation } = scripted([
      { type: 'stage', stage: 'retrieve' },
      { type: 'sources', sources: [source] },
      token('Seeds '),
      token('turn [1].'),
      { type: 'follow_ups', follow_ups: ['Why?'] },
      done,
    ])
    await conversation.explain()
    const turn = conversation.current!
    expect(turn).toMatchObject({ question: null, text: 'Seeds turn [1].', status: 'done', writtenBy: 'gallery', sources: [source] })
    expect(conversation.suggestions).toEqual(['Why?'])
    expect(conversation.spoken).toBe('Seeds turn.')
    expect(conversation.busy).toBe(false)
  })

  test('takes back what is reset', async () => {
    const { conversation } = scripted([{ type: 'sources', sources: [source] }, token('Wrong. '), { type: 'reset' }, token('Right.'), done])
    await conversation.explain()
    expect(conversation.current).toMatchObject({ text: 'Right.', sources: [] })
  })

  test('offers what the guide asks back as choices', async () => {
    const choices = [{ label: 'Penrose tiling', ask: 'Who made the Penrose tiling?' }, { label: 'Pinwheel tiling', ask: 'Who made the pinwheel tiling?' }]
    const asksBack = [
      { type: 'clarify', clarify: { text: 'Which one?', choices } } as unknown as AnswerEvent, // its parts come as tokens and follow-ups too
      token('Which one?'),
      { type: 'follow_ups', follow_ups: choices.map((choice) => choice.ask) } as AnswerEvent,
      { type: 'done', done: { answered: false, written_by: 'nobody', reply: 'clarify', language: 'en', ms: 1 } } as AnswerEvent,
    ]
    const { conversation } = scripted(asksBack, [token('Roger Penrose.'), done])
    await conversation.ask('Who made it?')
    expect(conversation.current).toMatchObject({ text: 'Which one?', status: 'done', writtenBy: 'nobody' })
    expect(conversation.suggestions).toEqual(choices.map((choice) => choice.ask))
    expect(conversation.asksBack).toBe(true)
    await conversation.ask(conversation.suggestions[0]!)
    expect(conversation.suggestions).toEqual(['Who made the pinwheel tiling?'])
  })

  test.each(['tools', 'web'] as const)('tells that an answer is by %s', async (by) => {
    const { conversation } = scripted([token('Then 20 m on.'), { type: 'done', done: { answered: true, written_by: by, language: 'en', ms: 1 } }])
    await conversation.ask('And then?')
    expect(conversation.current).toMatchObject({ text: 'Then 20 m on.', status: 'done', writtenBy: by })
  })

  test('shows the words of the server where too much was asked', async () => {
    const { conversation } = scripted([new Problem(429, 'too_many_questions', 'A short break, please', 'Please ask again in a moment.')])
    await conversation.ask('Again?')
    expect(conversation.current).toMatchObject({ status: 'refused', message: 'Please ask again in a moment.' })
  })

  test('does not suggest what was asked', async () => {
    const { conversation } = scripted([{ type: 'follow_ups', follow_ups: ['Why?', 'When?'] }, done], [token('So.'), done])
    await conversation.explain()
    await conversation.ask('Why?')
    expect(conversation.suggestions).toEqual(['When?'])
    expect(conversation.turns.map((turn) => turn.question)).toEqual([null, 'Why?'])
  })

  test('stops, and keeps the words so far', async () => {
    const { conversation, unreachable } = scripted([token('Half'), 'wait'])
    const running = conversation.explain()
    await vi.waitFor(() => expect(conversation.current?.text).toBe('Half'))
    expect(conversation.busy).toBe(true)
    conversation.stop()
    await running
    expect(conversation.current).toMatchObject({ status: 'stopped', text: 'Half' })
    expect(unreachable).not.toHaveBeenCalled()
  })

  test('a new question stops the answer before it', async () => {
    const { conversation } = scripted([token('Half'), 'wait'], [token('Whole.'), done])
    const first = conversation.explain()
    await vi.waitFor(() => expect(conversation.current?.text).toBe('Half'))
    await conversation.ask('Why?')
    await first
    expect(conversation.turns.map((turn) => turn.status)).toEqual(['stopped', 'done'])
  })

  test('shows a refusal in the words of the server, and can ask again', async () => {
    const { conversation, asked } = scripted([new Problem(429, 'busy', 'Busy', 'Too many at once.')], [token('Now.'), done])
    await conversation.ask('Why?')
    expect(conversation.current).toMatchObject({ status: 'refused', message: 'Too many at once.' })
    await conversation.retry(conversation.current!)
    expect(conversation.current).toMatchObject({ status: 'done', text: 'Now.', message: '' })
    expect(asked).toEqual(['Why?', 'Why?'])
  })

  test('an error event is a refusal', async () => {
    const { conversation } = scripted([token('Ha'), { type: 'error', message: 'That went wrong.' }])
    await conversation.ask('Why?')
    expect(conversation.current).toMatchObject({ status: 'refused', message: 'That went wrong.' })
  })

  test('an answer that broke off is taken up when the server is back', async () => {
    const { conversation, unreachable } = scripted([token('Half'), new Unreachable('gone')], [token('Whole.'), done])
    await conversation.explain()
    expect(conversation.current?.status).toBe('broken')
    expect(unreachable).toHaveBeenCalledTimes(1)
    await conversation.resume()
    expect(conversation.turns).toHaveLength(1)
    expect(conversation.current).toMatchObject({ status: 'done', text: 'Whole.' })
    await conversation.resume()
    expect(conversation.current?.text).toBe('Whole.')
  })

  test('nothing of a cleared conversation comes back', async () => {
    const { conversation } = scripted([token('Half'), 'wait'])
    const running = conversation.explain()
    await vi.waitFor(() => expect(conversation.current?.text).toBe('Half'))
    conversation.clear()
    await running
    expect(conversation.turns).toEqual([])
    expect(conversation.spoken).toBe('')
  })
})
