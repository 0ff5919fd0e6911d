// What can be before the visitor.
import type { Advice, Candidate, Diagnostics, ExhibitDetail, Outline, Photo } from '../api/contract'

/** A sentence for the visitor about something that did not work. */
export interface Notice {
  title: string
  detail: string
}

/** Where the visitor is. Each screen carries what it shows and nothing else. */
export type Screen =
  | { name: 'attract' }
  | { name: 'camera'; busy: boolean }
  | { name: 'choose'; photo: Photo; candidates: Candidate[] }
  | { name: 'unknown'; photo: Photo; advice: Advice; candidates: Candidate[] }
  | { name: 'browse'; by: 'list' | 'number' }
  | { name: 'exhibit'; exhibit: ExhibitDetail; photo: Photo | null; outline: Outline | null; recognised: boolean; also: Candidate[] }

/** What is laid over a screen, which stays as it is below. */
export type Over =
  | { name: 'comfort' }
  | { name: 'phone' }
  | { name: 'plan' }
  | { name: 'remembered' }
  | { name: 'take' }
  | { name: 'pass' }
  | { name: 'resume' }
  | { name: 'chapters' }
  | { name: 'level' }
  | { name: 'viewer'; picture: number }
  | { name: 'compare'; other: ExhibitDetail | null }

/** What staff have before them. */
export type Staff = { name: 'pin' } | { name: 'facts'; facts: Diagnostics }
