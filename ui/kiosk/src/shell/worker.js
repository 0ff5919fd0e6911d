// Keeps the page itself, so that a browser that starts while the kiosk's server does not answer shows "one moment" instead
// of an error. It keeps the page's own files and nothing else: no answer of the server, no picture, no photo.
const release = '__RELEASE__'
const files = ['__FILES__']

self.addEventListener('install', (event) => {
  event.waitUntil(
    caches
      .open(release)
      .then((cache) => cache.addAll(files))
      .then(() => self.skipWaiting()),
  )
})

self.addEventListener('activate', (event) => {
  event.waitUntil(
    caches
      .keys()
      .then((names) => Promise.all(names.filter((name) => name !== release).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  )
})

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url)
  if (event.request.method !== 'GET' || url.origin !== location.origin) return
  // The page comes from the server whenever that answers, so that a new one is shown.
  if (event.request.mode === 'navigate' && url.pathname === '/') {
    event.respondWith(fetch(event.request).then((answer) => (answer.ok ? answer : kept('/')), () => kept('/')))
  } else if (url.pathname.startsWith('/assets/')) {
    event.respondWith(caches.match(event.request).then((known) => known ?? fetchAsset(event.request)))
  }
})

async function kept(path) {
  return (await caches.match(path)) ?? Response.error()
}

// Files whose name changes with their content: fonts and what is loaded later are kept when they are first needed.
async function fetchAsset(request) {
  const answer = await fetch(request)
  if (answer.ok) {
    const cache = await caches.open(release)
    await cache.put(request, answer.clone())
  }
  return answer
}
