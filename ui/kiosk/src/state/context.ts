import { createContext } from 'svelte'
import type { Kiosk } from './kiosk.svelte'

/** The kiosk of this page, for every part of it. */
export const [useKiosk, provideKiosk] = createContext<Kiosk>()
