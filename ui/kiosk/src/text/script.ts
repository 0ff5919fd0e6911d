const han = /\p{Script=Han}/gu
const latin = /\p{Script=Latin}/gu

/** Letters that say enough about a text's language. */
const enough = 6

/**
 * The language that a text is most likely written in, as far as its script tells: zh where two of five letters or more are
 * Chinese (names and formulas in Latin letters are common in Chinese texts), en where nearly none is; else `otherwise`.
 */
export function languageOf(text: string, otherwise: string): string {
  const chinese = text.match(han)?.length ?? 0
  const western = text.match(latin)?.length ?? 0
  if (chinese >= 2 && chinese >= 0.4 * (chinese + western)) return 'zh'
  if (western >= enough && chinese <= 0.05 * western && otherwise === 'zh') return 'en'
  return otherwise
}
