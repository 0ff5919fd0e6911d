// The page that a visitor's phone opens with a code: it takes one photo and sends it to the kiosk. It is small, needs no
// installation, and keeps nothing.
import './phone.css'
import { smaller } from './smaller'

const words = {
  en: {
    title: 'Photograph an exhibit', detail: 'The kiosk shows what it is. The photo is deleted there when your visit ends.', take: 'Take a photo',
    sending: 'Sending…', done: 'Done. Look at the kiosk.', over: 'This code is over. Please scan the new one on the kiosk.',
    trouble: 'That did not work. Please try again.', away: 'The kiosk cannot be reached. Are you in the gallery’s Wi-Fi?',
  },
  zh: {
    title: '拍摄一件展品', detail: '导览机会显示它是什么。参观结束后，照片即从本机删除。', take: '拍照',
    sending: '正在发送……', done: '已发送，请看导览机。', over: '二维码已失效，请扫描导览机上新的二维码。',
    trouble: '没有成功，请再试一次。', away: '无法连接导览机。您是否已连接馆内无线网络？',
  },
}
const language = navigator.languages.map((l) => l.slice(0, 2)).find((l): l is 'en' | 'zh' => l in words) ?? 'en'
const text = words[language]

const token = location.hash.slice(1)
history.replaceState(null, '', location.pathname) // the code is good once; it need not be in the phone's history

const find = (id: string) => document.getElementById(id)!
document.documentElement.lang = language === 'zh' ? 'zh-Hans' : 'en'
document.title = text.title
find('title').textContent = text.title
find('detail').textContent = text.detail
find('label').textContent = text.take
const said = find('said')
const choose = find('choose')
const photo = find('photo') as HTMLInputElement

photo.addEventListener('change', () => {
  const file = photo.files?.[0]
  if (file) void send(file)
})
if (!token) end(text.over)

async function send(file: File): Promise<void> {
  choose.hidden = true
  said.textContent = text.sending
  const body = new FormData()
  body.append('photo', await smaller(file), 'photo.jpg')
  let response: Response
  try {
    response = await fetch(`/api/v1/phone/photo?token=${encodeURIComponent(token)}&lang=${language}`, {
      method: 'POST', body, cache: 'no-store', signal: AbortSignal.timeout(60_000),
    })
  } catch {
    return again(text.away)
  }
  if (response.ok) return end(text.done)
  if (response.status === 410) return end(text.over)
  const problem = (await response.json().catch(() => ({}))) as { detail?: string }
  again(problem.detail || text.trouble)
}

function again(why: string): void {
  said.textContent = why
  photo.value = ''
  choose.hidden = false
}

function end(why: string): void {
  said.textContent = why
  choose.hidden = true
}
