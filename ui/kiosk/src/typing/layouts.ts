import type { PageLanguage } from '../i18n/strings'

/** What the keyboard shows: letters, capital letters, numbers and signs. */
export type Layer = 'letters' | 'capitals' | 'signs'

const points: Record<PageLanguage, [comma: string, stop: string, ask: string]> = { en: [',', '.', '?'], zh: ['，', '。', '？'] }

/** The rows of keys. Those in braces do something; all others type what they show. */
export function rowsOf(language: PageLanguage, several: boolean): Record<Layer, string[]> {
  const [comma, stop, ask] = points[language]
  const last = (layer: string) => `${layer} ${several ? '{language} ' : ''}{space} ' {hide}`
  return {
    letters: ['q w e r t y u i o p {bksp}', 'a s d f g h j k l {enter}', `{shift} z x c v b n m ${comma} ${stop} ${ask}`, last('{signs}')],
    capitals: ['Q W E R T Y U I O P {bksp}', 'A S D F G H J K L {enter}', `{shift} Z X C V B N M ${comma} ${stop} ${ask}`, last('{signs}')],
    signs: ['1 2 3 4 5 6 7 8 9 0 {bksp}', '- / : ; ( ) & @ " {enter}', `! % + = # * € ${comma} ${stop} ${ask}`, last('{letters}')],
  }
}
