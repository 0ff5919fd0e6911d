export interface Located {
  before: string
  passage: string
  after: string
}

/**
 * Finds a passage within its section's text, whatever the white space in between; null where it is not in there. A passage
 * is cut from its section with white space collapsed at most.
 */
export function locate(section: string, passage: string): Located | null {
  const wanted = passage.replace(/\s+/g, '')
  if (wanted === '') return null
  // Where each visible character of the section stands.
  const places: number[] = []
  let visible = ''
  for (let i = 0; i < section.length; i++) {
    if (/\s/.test(section[i]!)) continue
    places.push(i)
    visible += section[i]
  }
  const at = visible.indexOf(wanted)
  if (at < 0) return null
  const from = places[at]!
  const to = places[at + wanted.length - 1]! + 1
  return { before: section.slice(0, from), passage: section.slice(from, to), after: section.slice(to) }
}
