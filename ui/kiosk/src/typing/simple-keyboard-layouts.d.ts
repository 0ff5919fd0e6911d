declare module 'simple-keyboard-layouts/build/layouts/chinese' {
  /** Chinese characters for each syllable of pinyin, parted by spaces, the commonest first. */
  const chinese: { layoutCandidates: Record<string, string> }
  export default chinese
}
