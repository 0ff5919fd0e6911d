import type { Venue } from '../api/contract'

/** Whether the house is open, and when it opens next: a day as 2026-12-31 and a time as 10:00. */
export interface OpenState {
  open: boolean
  next: { date: string; weekday: string; time: string; today: boolean } | null
}

const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** Reads the opening hours at a moment, in the house's own time zone. null where the house names no hours. */
export function openState(venue: Venue, now: Date): OpenState | null {
  if (venue.hours.length === 0) return null
  const here = wallClock(now, venue.time_zone)
  let next: OpenState['next'] = null
  for (let ahead = 0; ahead < 15 && !next; ahead++) {
    const date = new Date(Date.UTC(here.year, here.month - 1, here.day + ahead))
    const weekday = days[date.getUTCDay()]!
    const iso = date.toISOString().slice(0, 10)
    for (const span of spansOn(venue, iso, weekday)) {
      if (ahead === 0 && here.time >= span.open && here.time < span.close) return { open: true, next: null }
      if (ahead > 0 || here.time < span.open) {
        next = { date: iso, weekday, time: span.open, today: ahead === 0 }
        break
      }
    }
  }
  return { open: false, next }
}

/** A closure replaces the hours of its day; without hours of its own, the house is closed on it. */
function spansOn(venue: Venue, iso: string, weekday: string): { open: string; close: string }[] {
  const closure = venue.closures.find((c) => c.date === iso)
  const spans = closure ? (closure.open && closure.close ? [{ open: closure.open, close: closure.close }] : []) : venue.hours.filter((h) => h.day === weekday)
  return spans.map(({ open, close }) => ({ open, close: close === '00:00' ? '24:00' : close })).sort((a, b) => a.open.localeCompare(b.open))
}

function wallClock(now: Date, timeZone: string | undefined): { year: number; month: number; day: number; time: string } {
  let parts: Record<string, string>
  const read = (zone: string | undefined) =>
    Object.fromEntries(
      new Intl.DateTimeFormat('en-GB', {
        ...(zone && { timeZone: zone }), year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', hourCycle: 'h23',
      })
        .formatToParts(now)
        .map(({ type, value }) => [type, value]),
    )
  try {
    parts = read(timeZone)
  } catch {
    parts = read(undefined) // a zone that this browser does not know
  }
  return { year: Number(parts['year']), month: Number(parts['month']), day: Number(parts['day']), time: `${parts['hour']}:${parts['minute']}` }
}
