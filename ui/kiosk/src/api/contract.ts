/** What the kiosk server sends and takes under /api/v1. Field names are the server's own. */

/** A text in several languages, keyed by language tag. */
export type Localized = Readonly<Record<string, string>>

/** A place on a photo as fractions of its width and height, from the upper left corner. May lie outside 0…1. */
export type FractionPoint = readonly [x: number, y: number]

/** The four corners of an exhibit on a photo, clockwise from its own upper left. */
export type Outline = readonly FractionPoint[]

export type CameraState = 'ready' | 'init' | 'alert' | 'none'

export interface Hall {
  id: string
  name: Localized
  about?: Localized
  floor: number
  /** Corners on the plan of its floor, in metres from the lower left. */
  outline?: readonly (readonly [number, number])[]
  doors?: readonly Door[] | null
}

export interface Door {
  to: string
  at: readonly [number, number]
  step_free: boolean
}

export interface Gallery {
  id: string
  name: Localized
  languages: string[]
  default_language: string
  release: { id: string; number: number }
  halls: Hall[]
  kiosk: { id: string; hall: string; at: readonly [number, number] }
  camera: CameraState
  attract: Localized[]
  /** What this kiosk can do beyond the usual; what is missing is off. */
  features?: Features
  /** Addresses of pictures for the attract loop. */
  pictures: string[]
  idle_seconds: number
}

export interface Features {
  /** Languages that the kiosk itself can read aloud. */
  speech?: string[] | null
  /** Visits can go on at other kiosks. */
  pass?: boolean
  /** The camera reads passes. */
  scan?: boolean
  /** Photos may be sent from a phone on the local network. */
  phone?: boolean
  /** The kiosk says when the camera is held still. */
  quality?: boolean
  /** Staff can open the diagnostics page with a PIN. */
  staff?: boolean
}

/** The audience that texts are chosen for. */
export type Level = 'child' | 'general' | 'expert'
export const levels: readonly Level[] = ['child', 'general', 'expert']

export interface Visit {
  visit: string
  language: string
  expires_at: string
}

/** An exhibit in one language, as lists and cards show it. */
export interface ExhibitCard {
  id: string
  label: string
  title: string
  maker?: string
  date?: string
  hall: string
  picture?: string
  picture_alt?: string
  /** Where it is on the plan, in metres. */
  at?: readonly [number, number]
}

/** An exhibit with what its label says. */
export interface ExhibitDetail extends ExhibitCard {
  materials?: string
  accession?: string
  credit?: string
  pictures?: Picture[]
  sections?: Section[]
  sources?: Published[]
  related?: ExhibitCard[]
}

export interface Picture {
  url: string
  alt?: string
  width: number
  height: number
}

/** One headed text about an exhibit. */
export interface Section {
  id: string
  heading: string
  level?: Level | ''
  text: string
  language: string
}

export interface Photo {
  id: string
  url: string
  width: number
  height: number
}

export type Decision = 'match' | 'choose' | 'unknown'

/** Why a photo is hard to read; empty where it is fine. */
export type Advice = '' | 'too_dark' | 'too_bright' | 'blurred' | 'nothing_there' | 'glare' | 'closer'

export interface Candidate {
  exhibit: ExhibitCard
  confidence: number
  inliers: number
  outline: Outline | null
}

export interface Recognition {
  photo: Photo
  decision: Decision
  advice: Advice
  candidates: Candidate[]
}

/** A passage that an answer cites as [n]. */
export interface AnswerSource {
  n: number
  passage: string
  section: string
  exhibit?: string
  title: string
  heading: string
  quote: string
  document: string
  page?: number
  last_page?: number
  /** The address of a page in the web, which is no passage of the gallery and cannot be fetched from here. */
  url?: string
  published?: Published[]
}

export interface Published {
  title: string
  url?: string
}

export interface AnswerDone {
  answered: boolean
  written_by: 'gallery' | 'model' | 'tools' | 'web' | 'nobody'
  /** Set where it was no answer to a question: asked back, or a greeting returned. */
  reply?: 'clarify' | 'courtesy' | 'memory'
  language: string
  ms: number
}

/** One step of an answer, in the order they come; exactly one done or error at the end. Others may come and are passed over. */
export type AnswerEvent =
  | { type: 'stage'; stage: string }
  | { type: 'sources'; sources: AnswerSource[] }
  | { type: 'token'; text: string }
  | { type: 'follow_ups'; follow_ups: string[] }
  | { type: 'reset' }
  | { type: 'done'; done: AnswerDone }
  | { type: 'error'; message: string }

export interface PassageView {
  id: string
  text: string
  /** Where the passage begins, and where it ends if that is another page; 0 where there are none. */
  page?: number
  last_page?: number
  section: {
    id: string
    heading: string
    path?: string[] | null
    text: string
    document: string
    page?: number
    language: string
  }
  exhibit: ExhibitCard | null
  published: Published[] | null
}

/** A code that lets a phone send one photo into the visit. */
export interface PhoneOffer {
  url: string
  /** A drawing, as SVG. */
  qr: string
  seconds: number
}

/** A code that a visitor takes an exhibit along with: the house's page about it, or the label itself. */
export interface TakeAlong {
  qr: string
  text: string
  kind: 'address' | 'text'
}

/** A walk through the halls. */
export interface Route {
  minutes: number
  walking_minutes: number
  step_free: boolean
  stops: RouteStop[]
  /** Exhibits that no step-free way leads to. */
  unreachable: string[]
}

export interface RouteStop {
  exhibit: ExhibitCard
  walk_seconds: number
  /** Of viewing. */
  minutes: number
  /** Minutes after the beginning. */
  arrive: number
}

/** What the kiosk remembers of a visitor. */
export interface Remembered {
  items: { key: string; text: string; said?: string; version: number }[]
}

/** The most characters of one thing that is remembered. */
export const longestRemembered = 200

/** A pass lets the visit go on at another kiosk. */
export interface VisitPass {
  qr: string
  /** Stands for the pass for some minutes. */
  code: string
  code_seconds: number
  expires_at: string
}

/** A short code is of these, which nobody takes for others. */
export const codeCharacters = [...'23456789ABCDEFGHJKMNPQRSTWXYZ']
export const codeLength = 8

/** A visit that began at another kiosk. */
export interface Resumed {
  visit: string
  language: string
  level?: Level
  /** In hand. */
  exhibit: ExhibitDetail | null
  seen: string[]
}

/** How the live picture would do as a photo. */
export interface LiveQuality {
  advice: Advice
  still: boolean
  /** How much of the time that counts as still has passed, 0 to 1. */
  steady: number
}

export interface Venue {
  time_zone?: string
  hours: { day: string; open: string; close: string }[]
  closures: { date: string; open?: string; close?: string }[]
}

/** How the kiosk is, for staff. */
export interface Diagnostics {
  site: string
  kiosk: string
  version?: string
  now: string
  uptime_seconds: number
  gallery: string
  release: { id: string; number: number; created: string }
  exhibits: number
  camera: CameraState
  speech: boolean
  phone?: string
  visits: number
  memory_bytes: number
  disk: { free_bytes: number; total_bytes: number }
  status?: Record<string, string>
}

/** What a visitor thought. Answers are named by what they rest on, never by the question. */
export type Feedback =
  | { kind: 'answer'; visit: string; exhibit: string; sources: string[]; helpful: boolean }
  | { kind: 'survey'; language: string; found?: Opinion; easy?: Opinion }
export type Opinion = 'yes' | 'partly' | 'no'

/** The longest question the server takes, in characters. */
export const longestQuestion = 500

/** What the house has set for the screen. */
export interface HouseScreen {
  asleep: boolean
  /** Of what is read aloud, 0 to 100. */
  volume: number
  /** Of the picture, 0 to 100; 100 where the display itself is dimmed. */
  brightness: number
  /** When the page was last to be loaded anew, Unix ms; 0: never. */
  reload: number
  /** The kiosk waits to be let in at its hub; for staff that stand before it. */
  notice: { code?: string; until?: string; fingerprint?: string; reason?: string } | null
}
