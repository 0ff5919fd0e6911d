import '@fontsource-variable/noto-sans-sc'
import '@fontsource-variable/noto-serif-sc'
import '@fontsource-variable/source-sans-3'
import '@fontsource-variable/source-serif-4'
import './styles/tokens.css'
import './styles/base.css'

import { mount } from 'svelte'
import App from './App.svelte'
import { Client } from './api/client'
import { closePage } from './lockdown'
import { keepPage } from './shell/keep'
import { Kiosk } from './state/kiosk.svelte'

const kiosk = new Kiosk(new Client())
closePage(document)
window.addEventListener('pagehide', () => kiosk.close())
mount(App, { target: document.getElementById('app')!, props: { kiosk } })
void kiosk.open()
keepPage()
