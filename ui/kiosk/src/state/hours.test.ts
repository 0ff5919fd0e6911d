import { expect, test } from 'vitest'
import { openState } from './hours'

const venue = {
  time_zone: 'Asia/Shanghai',
  hours: ['tuesday', 'wednesday', 'thursday', 'saturday', 'sunday'].map((day) => ({ day, open: '10:00', close: '18:00' })).concat([{ day: 'friday', open: '10:00', close: '21:00' }]),
  closures: [{ date: '2026-12-31', open: '10:00', close: '15:00' }, { date: '2026-12-25' }],
}

test.each([
  ['a Tuesday morning', '2026-12-01T01:59:00Z', false, { date: '2026-12-01', time: '10:00', today: true }], // 09:59 in Shanghai
  ['as it opens', '2026-12-01T02:00:00Z', true, null],
  ['as it closes', '2026-12-01T10:00:00Z', false, { date: '2026-12-02', weekday: 'wednesday', time: '10:00', today: false }],
  ['late on Friday', '2026-12-04T12:30:00Z', true, null],
  ['on Sunday night, before the day it is closed', '2026-12-06T11:00:00Z', false, { date: '2026-12-08', weekday: 'tuesday', time: '10:00' }],
  ['on a day with hours of its own', '2026-12-31T06:00:00Z', true, null],
  ['on it, later', '2026-12-31T08:00:00Z', false, { date: '2027-01-01', time: '10:00' }],
  ['on a closed Friday', '2026-12-25T05:00:00Z', false, { date: '2026-12-26', time: '10:00' }],
])('%s', (_, at, open, next) => {
  const state = openState(venue, new Date(at))
  expect(state?.open).toBe(open)
  if (next) expect(state?.next).toMatchObject(next)
  else expect(state?.next).toBeNull()
})

test('a house without hours looks as by day', () => {
  expect(openState({ hours: [], closures: [] }, new Date())).toBeNull()
})

test('a house that never opens has no next day, and an unknown zone does no harm', () => {
  expect(openState({ ...venue, hours: [{ day: 'someday', open: '10:00', close: '11:00' }], closures: [], time_zone: 'Mars/Base' }, new Date())).toEqual({ open: false, next: null })
})
