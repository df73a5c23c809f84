// Pages that make a capture fail, and the reported errors. After each of them, the next capture must succeed.

import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t, { type Test } from 'tap'
import { armEgress } from '../../../capture-runner/src/capture/capture.ts'
import { buildPlan, DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { argumentsOf, listProcesses, memoryOf, treeOf } from '../../../capture-runner/src/runtime/processes.ts'
import { eventually } from '../../support/eventually.ts'
import { isFullLength } from '../../support/length.ts'
import { servePages } from './stage/page-server.ts'
import { decode, GREEN, isNear } from './stage/pixels.ts'
import { LOOPBACK_POLICY, openStudio } from './stage/studio.ts'

const green = (rest = '') => `<!doctype html><title>Green</title><body style="margin:0;background:#0f0">${rest}</body>`

/** A page that announces more bytes than it sends. */
const cut =
  (type: string, text: string): RequestListener =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': 100_000 })
    response.write(text, () => response.socket?.destroy())
  }

/** Number of requests for the page that never responds. */
let asked = 0

/** Memory of the page that holds memory. */
const HELD_MEBIBYTES = 300

const site = await servePages({
  '/green': green(),
  '/never': () => {
    asked++
  },
  '/half': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.write(green('<p>and then nothing'))
  },
  '/loop-at-once': green('<script>for (;;) {}</script>'),
  '/loop-after-load': green('<script>addEventListener("load", () => setTimeout(() => { for (;;) {} }, 0))</script>'),
  '/loop-on-unload': green(
    '<script>addEventListener("unload", () => { for (;;) {} }); addEventListener("beforeunload", (e) => { e.preventDefault(); return "stay" })</script>',
  ),
  '/alerts': green('<script>for (let i = 0; i < 200; i++) { alert(i); confirm(i); prompt(i) }</script>'),
  '/print': green('<script>print()</script>'),
  '/popups': green('<script>for (let i = 0; i < 30; i++) open("/green?" + i)</script>'),
  '/download': (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment; filename=x.bin' })
    response.end('x'.repeat(1000))
  },
  '/csv': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/csv; charset=utf-8' })
    response.end('a,b\n1,2\n')
  },
  '/odd-type': (_request, response) => {
    response.writeHead(200, { 'content-type': 'a<b>/"c"', 'content-disposition': 'attachment' })
    response.end('x')
  },
  '/hangs-up': (request) => request.socket.destroy(),
  '/cut': cut('text/html; charset=utf-8', green('<p>and then nothing')),
  '/cut-at-once': cut('text/html', '<p>x'),
  '/cut-chunks': (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
    response.write(green('<p>and then nothing'), () => response.socket?.destroy())
  },
  '/download-by-script': green('<script>location.href = "/download"</script>'),
  '/empty': (_request, response) => response.writeHead(204).end(),
  '/reset': (request) => request.socket.resetAndDestroy(),
  '/circle': (_request, response) => response.writeHead(302, { location: '/circle' }).end(),
  '/script-circle': green('<script>location.href = "/script-circle?" + Math.random()</script>'),
  '/to-nowhere': green('<script>location.href = "http://127.0.0.1:9/"</script>'),
  '/redirect-to-nowhere': (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:6666/' }).end(),
  '/gone-later': green('<script>addEventListener("load", () => setTimeout(() => { location.href = "/never" }, 50))</script>'),
  '/huge': green('<script>const all = []; for (;;) all.push(new Uint8Array(16 << 20).fill(1))</script>'),
  '/holds-memory': green(
    `<script>const all = Array.from({ length: ${HELD_MEBIBYTES} }, () => new Uint8Array(1 << 20).fill(1)); fetch("/holding")</script>`,
  ),
  '/worker': green(
    '<script>navigator.serviceWorker?.register("/green"); new Worker(URL.createObjectURL(new Blob(["for(;;){}"])))</script>',
  ),
  '/frame-crash': green('<iframe src="chrome://crash"></iframe>'),
})
const studio = await openStudio({ memoryLimitBytes: 1536 * 1024 * 1024 })
t.teardown(async () => {
  await studio.close()
  await site.close()
})

/** For pages that never end. */
const SOON: CaptureOptions = { timeout: 1_500 }

async function takesTheNext(t: Test): Promise<void> {
  const { picture } = await studio.shoot(site.url('/green'))
  t.ok(isNear((await decode(picture)).at(5, 5), GREEN, 0), 'the next capture succeeds')
}

const failures: { name: string; path: string; options?: CaptureOptions; code: string; message?: RegExp }[] = [
  { name: 'a server that never responds', path: '/never', options: SOON, code: 'TIMEOUT' },
  { name: 'a page that never ends', path: '/half', options: SOON, code: 'TIMEOUT' },
  { name: 'an endless loop while loading', path: '/loop-at-once', options: SOON, code: 'TIMEOUT' },
  { name: 'an endless script', path: '/green', options: { ...SOON, scripts: 'for (;;) {}' }, code: 'TIMEOUT' },
  { name: 'a promise that never settles', path: '/green', options: { ...SOON, scripts: 'await new Promise(() => {})' }, code: 'TIMEOUT' },
  {
    name: 'a script that throws',
    path: '/green',
    options: { scripts: 'throw new Error("my fault\\nsecond line")' },
    code: 'SCRIPT_ERROR',
    message: /^Error: my fault$/,
  },
  {
    name: 'a download',
    path: '/download',
    code: 'UNSUPPORTED_CONTENT',
    message: /a file to save \(application\/octet-stream\), not a page/,
  },
  { name: 'a CSV file', path: '/csv', code: 'UNSUPPORTED_CONTENT', message: /a file \(text\/csv\), not a page.*Fetch the file/ },
  { name: 'a file with an invalid type', path: '/odd-type', code: 'UNSUPPORTED_CONTENT', message: /a file to save, not a page/ },
  { name: 'a response without content', path: '/empty', code: 'NAVIGATION_FAILED' },
  { name: 'a connection that is reset', path: '/reset', code: 'NAVIGATION_FAILED', message: /reset the connection/ },
  {
    name: 'a site that closes the connection',
    path: '/hangs-up',
    code: 'NAVIGATION_FAILED',
    message: /closed the connection without a response/,
  },
  { name: 'a response that breaks off before any content', path: '/cut-at-once', code: 'NAVIGATION_FAILED', message: /broke off/ },
  { name: 'a redirect loop', path: '/circle', code: 'TOO_MANY_REDIRECTS' },
  { name: 'a redirect loop by scripts', path: '/script-circle', code: 'TOO_MANY_REDIRECTS' },
  { name: 'a script that navigates to a closed port', path: '/to-nowhere', code: 'NAVIGATION_FAILED' },
  { name: 'a redirect to a closed port', path: '/redirect-to-nowhere', code: 'NAVIGATION_FAILED' },
  { name: 'a page that uses all memory', path: '/huge', code: 'PAGE_CRASHED', message: /used too much memory: .* may use 1228 MiB/ },
]

for (const { name, path, options, code, message = /./ } of failures) {
  t.test(`a capture of ${name} fails with ${code}`, async (t) => {
    const error = await studio.shootInVain(site.url(path), options)
    t.equal(error.code, code, error.message)
    t.match(error.message, message)
    // After the others, the next case shows that the browser works.
    if (isFullLength || /TIMEOUT|PAGE_CRASHED/.test(code)) await takesTheNext(t)
  })
}

/** Resets the connection of a response without a length, which a browser must not treat as its end. */
const resetting = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\n${green('<p>and then nothing')}`)
    // A reset right after the bytes would overtake them.
    eventually('the bytes were read', async () => socket.writableLength === 0).then(() => setTimeout(() => socket.resetAndDestroy(), 200))
  })
})
resetting.listen(0, '127.0.0.1')
await once(resetting, 'listening')
t.teardown(() => resetting.close())

t.test('a response that breaks off adds a warning, however it breaks off', async (t) => {
  const reset = `http://127.0.0.1:${(resetting.address() as AddressInfo).port}/`
  for (const options of [{}, { locale: 'de-DE' }]) {
    for (const url of [site.url('/cut'), site.url('/cut-chunks'), reset]) {
      const { picture, findings } = await studio.shoot(url, options)
      t.match(findings.warnings, [/^the page’s response broke off, so the picture may not show all of it/], url)
      t.ok(isNear((await decode(picture)).at(5, 5), GREEN, 0), url)
    }
  }
  t.notMatch((await studio.shoot(site.url('/green'))).findings.warnings.join(), /broke off/)
})

t.test('a page with much memory does not end the page of another account in the same runner', async (t) => {
  const used = () => treeOf(process.pid).reduce((sum, pid) => sum + memoryOf(pid), 0)
  // Enough for the browsers and the page of the victim, but not for that of the attacker too.
  const runner = await openStudio({ memoryLimitBytes: (used() + (150 + HELD_MEBIBYTES) * 2 ** 20) / 0.8 })
  t.teardown(runner.close)
  // A page whose capture has ended, but which still runs.
  const lease = await runner.browsers.lend('attacker', DEFAULT_CONTEXT, AbortSignal.timeout(60_000))
  t.teardown(() => runner.browsers.takeBack(lease, false))
  const { tab } = lease
  armEgress(tab.egress, LOOPBACK_POLICY, buildPlan(site.url('/'), {}))
  await tab.session.send('Page.navigate', { url: site.url('/holds-memory') })
  await eventually('the page holds its memory', async () => site.requests.includes('GET /holding'))
  const { picture } = await runner.shoot(site.url('/green'), { delay: 500 }, { account: 'victim' })
  t.ok(isNear((await decode(picture)).at(5, 5), GREEN, 0), 'the victim has its picture')
  t.match(tab.ended.reason, { code: 'PAGE_CRASHED' }, 'the larger page was ended')
})

t.test('a capture of an unknown name fails with DNS_FAILED, over http and https', async (t) => {
  for (const url of ['http://no-such-name.invalid/', 'https://no-such-name.invalid/']) {
    t.equal((await studio.shootInVain(url)).code, 'DNS_FAILED', url)
  }
})

t.test('a capture of a denied address fails with BLOCKED_ADDRESS, over http and https, also after a redirect', async (t) => {
  const closed = { ...LOOPBACK_POLICY, rules: { ...LOOPBACK_POLICY.rules, allowedCidrs: [] } }
  for (const url of [site.url('/green'), site.url('/green').replace('http:', 'https:'), 'http://169.254.169.254/', 'https://10.0.0.1/']) {
    t.equal((await studio.shootInVain(url, {}, { policy: closed })).code, 'BLOCKED_ADDRESS', url)
  }
})

t.test('a capture of a port without http fails with NAVIGATION_FAILED', async (t) => {
  const server = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2\r\n'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.equal((await studio.shootInVain(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)).code, 'NAVIGATION_FAILED')
})

const harmless = ['/alerts', '/print', '/popups', '/loop-on-unload', '/download-by-script', '/worker', '/frame-crash']
for (const path of harmless) {
  t.test(`a page cannot stop its capture with ${path.slice(1)}`, async (t) => {
    const { picture } = await studio.shoot(site.url(path))
    t.ok(isNear((await decode(picture)).at(900, 900), GREEN, 0))
    await takesTheNext(t)
  })
}

t.test('a navigation that never responds fails at the timeout of the capture, long before the deadline of the job', async (t) => {
  // Commands to the current document wait until the navigation commits.
  const signal = AbortSignal.timeout(25_000)
  const error = await studio.shootInVain(site.url('/gone-later'), { ...SOON, delay: 500 }, { signal })
  t.match(error, { code: 'TIMEOUT', message: 'the page did not load within 1500 ms' })
})

// proves: job_timeout
t.test('the deadline ends a page that hangs in any step', async (t) => {
  for (const path of ['/loop-at-once', '/loop-after-load', '/never']) {
    const late = new CaptureError('TIMEOUT', 'the capture did not end within its time')
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(late), 2_000)
    const error = await studio.shootInVain(site.url(path), {}, { signal: deadline.signal })
    clearTimeout(timer)
    t.equal(error, late, path)
    await takesTheNext(t)
  }
})

t.test('a browser that is killed during a capture does not count as the page’s failure, and is replaced', async (t) => {
  const failing = studio.shootInVain(site.url('/never'))
  const before = await bothBrowsersOf(asked)
  for (const pid of before) process.kill(pid, 'SIGKILL')
  const error = await failing
  t.match({ code: error.code, retryable: error.retryable }, { code: 'INTERNAL_ERROR', retryable: true })
  await eventually('both are replaced', async () => browserProcesses().filter((pid) => !before.includes(pid)).length === before.length)
  await takesTheNext(t)
})

t.test('a browser that is frozen is killed, and its capture ends with the deadline', async (t) => {
  const deadline = new AbortController()
  const failing = studio.shoot(site.url('/never'), {}, { signal: deadline.signal }).then(
    () => t.fail('it succeeded'),
    () => {},
  )
  const frozen = await bothBrowsersOf(asked)
  for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  deadline.abort(new CaptureError('TIMEOUT', 'the capture did not end within its time'))
  await failing
  await eventually('the frozen browser has ended', async () => frozen.some((pid) => !browserProcesses().includes(pid)))
  for (const pid of frozen) if (browserProcesses().includes(pid)) process.kill(pid, 'SIGCONT')
  await takesTheNext(t)
})

t.test('another account never gets the browser of the previous one', async (t) => {
  const first = await studio.shoot(site.url('/green'), { scripts: 'document.cookie = "a=1"' }, { account: 'one' })
  const again = await studio.shoot(site.url('/green'), TITLE_FROM_COOKIE, { account: 'one' })
  t.equal(again.browserPid, first.browserPid)
  t.equal(again.findings.pageTitle, 'none', 'the same account has no cookies from before')
  const other = await studio.shoot(site.url('/green'), TITLE_FROM_COOKIE, { account: 'two' })
  t.not(other.browserPid, first.browserPid)
  t.notOk(browserProcesses().includes(first.browserPid), 'the browser of the first account has ended')
})

const TITLE_FROM_COOKIE: CaptureOptions = { scripts: 'document.title = document.cookie || "none"' }

/** Main processes of the current browser and the standby browser, after another capture of `/never` has started. */
const bothBrowsersOf = (before: number): Promise<number[]> =>
  eventually('the page is requested, and two browsers run', async () => {
    const running = browserProcesses()
    return asked > before && running.length === 2 && running
  })

/** Main processes of all browsers of this test. */
function browserProcesses(): number[] {
  return listProcesses()
    .filter(({ pid, parent }) => parent === process.pid && argumentsOf(pid).some((argument) => argument.startsWith('--tintype-browser=')))
    .map(({ pid }) => pid)
}
