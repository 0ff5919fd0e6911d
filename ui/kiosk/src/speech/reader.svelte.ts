import { calledOff } from '../api/calledoff'
import { volumeSteps } from '../state/comfort.svelte'
import { sentencesOf, type Sentence } from './sentences'

interface ReaderOptions {
  /** Where the kiosk reads a sentence aloud. */
  address: (language: string, text: string) => Promise<string>
  /** 1 to volumeSteps. */
  volume: () => number
  /** Keeps the visit from running out until the returned function is called. */
  hold: () => () => void
}

/**
 * Reads what is on the screen aloud, sentence by sentence, and shows which one. The browser's own voices come first, if they
 * speak on this machine and not somewhere on a network; else the kiosk's.
 */
export class Reader {
  /** The sentence that is being read; shown as a caption. */
  caption = $state('')
  status = $state<'silent' | 'reading' | 'failed'>('silent')

  readonly #options: ReaderOptions
  #abort = new AbortController()
  /** Counts the browser's voices coming and going. */
  #voices = $state(0)

  constructor(options: ReaderOptions) {
    this.#options = options
    globalThis.speechSynthesis?.addEventListener?.('voiceschanged', () => this.#voices++)
  }

  /** Whether a text in that language can be read. `kiosk` are the languages of the kiosk's own voice. */
  speaks(language: string, kiosk: readonly string[]): boolean {
    void this.#voices
    return voiceFor(language) !== null || kiosk.includes(language)
  }

  /** Reads all below an element that is marked to be read, each part in its language. Stops what was read before. */
  async read(root: HTMLElement, page: string): Promise<void> {
    this.stop()
    const abort = (this.#abort = new AbortController())
    const { signal } = abort
    const sentences = sentencesOf(root, page)
    if (sentences.length === 0) return
    const release = this.#options.hold()
    this.status = 'reading'
    try {
      const audio = this.#fetchAhead(sentences, signal)
      for (const [i, sentence] of sentences.entries()) {
        if (signal.aborted) return
        this.#point(sentence)
        const voice = voiceFor(sentence.language)
        if (voice) await utter(sentence.text, voice, () => this.#options.volume() / volumeSteps, signal)
        else await play(await audio(i), () => this.#options.volume() / volumeSteps, signal)
      }
      if (!signal.aborted) this.status = 'silent'
    } catch {
      if (!signal.aborted) this.status = 'failed'
    } finally {
      release()
      if (!signal.aborted) this.#unpoint()
    }
  }

  stop(): void {
    this.#abort.abort(calledOff)
    this.status = 'silent'
    this.#unpoint()
  }

  /** The sound of each sentence, the next one fetched while one is heard. */
  #fetchAhead(sentences: readonly Sentence[], signal: AbortSignal): (i: number) => Promise<HTMLAudioElement> {
    const made = new Map<number, Promise<HTMLAudioElement>>()
    const make = (i: number) => {
      const known = made.get(i)
      if (known) return known
      const audio = this.#options.address(sentences[i]!.language, sentences[i]!.text).then((address) => {
        const element = new Audio()
        element.preload = 'auto'
        if (!signal.aborted) element.src = address
        return element
      })
      audio.catch(() => undefined)
      made.set(i, audio)
      return audio
    }
    return (i) => {
      made.delete(i - 1)
      const next = sentences[i + 1]
      if (next && !voiceFor(next.language)) make(i + 1)
      return make(i)
    }
  }

  #point(sentence: Sentence): void {
    this.caption = sentence.text
    globalThis.CSS?.highlights?.set('reading', new Highlight(sentence.range))
    const block = sentence.range.startContainer.parentElement
    block?.scrollIntoView({ block: 'nearest' })
  }

  #unpoint(): void {
    this.caption = ''
    globalThis.CSS?.highlights?.delete('reading')
  }
}

/** A voice of that language on this machine, or null. */
function voiceFor(language: string): SpeechSynthesisVoice | null {
  const voices = globalThis.speechSynthesis?.getVoices?.() ?? []
  const own = voices.filter((voice) => voice.localService && voice.lang.toLowerCase().split(/[-_]/)[0] === language)
  return own.find((voice) => voice.default) ?? own[0] ?? null
}

function utter(text: string, voice: SpeechSynthesisVoice, volume: () => number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const utterance = new SpeechSynthesisUtterance(text)
    utterance.voice = voice
    utterance.lang = voice.lang
    utterance.volume = volume()
    const end = (done: () => void) => {
      signal.removeEventListener('abort', stopped)
      done()
    }
    const stopped = () => {
      speechSynthesis.cancel()
      end(resolve)
    }
    utterance.onend = () => end(resolve)
    utterance.onerror = () => end(() => (signal.aborted ? resolve() : reject(new Error('the voice failed'))))
    signal.addEventListener('abort', stopped)
    speechSynthesis.speak(utterance)
  })
}

function play(audio: HTMLAudioElement, volume: () => number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (done: () => void) => {
      signal.removeEventListener('abort', stopped)
      audio.onended = audio.onerror = audio.ontimeupdate = null
      audio.removeAttribute('src')
      audio.load()
      done()
    }
    const stopped = () => end(resolve)
    if (signal.aborted) return resolve()
    audio.volume = volume()
    audio.ontimeupdate = () => (audio.volume = volume()) // it may be turned up in the middle of a sentence
    audio.onended = () => end(resolve)
    audio.onerror = () => end(() => (signal.aborted ? resolve() : reject(new Error('the sound could not be had'))))
    signal.addEventListener('abort', stopped)
    audio.play().catch((error: unknown) => end(() => (signal.aborted ? resolve() : reject(error))))
  })
}
