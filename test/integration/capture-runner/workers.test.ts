// Pages with dedicated workers, whose requests count as the page's. No test measures time: a capture that waits in vain has a
// warning.

import type { RequestListener } from 'node:http'
import t from 'tap'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { openStage, page } from '../options/options.ts'
import { GREEN } from './stage/pixels.ts'

const script =
  (source: string): RequestListener =>
  (_, response) =>
    void response.writeHead(200, { 'content-type': 'text/javascript' }).end(source)

const answers =
  (milliseconds: number): RequestListener =>
  (_, response) =>
    void setTimeout(() => response.end('green'), milliseconds)

/** Turns green on a message of the worker. */
const listens = 'worker.onmessage = () => { document.body.style.background = "#0f0" }'
const withWorker = (source: string) => page('background:#f00', `<p>A page.</p><script>const worker = ${source}; ${listens}</script>`)

const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
t.teardown(() => names.close())
const stage = await openStage(
  t,
  {
    '/classic': withWorker('new Worker("/worker.js")'),
    '/module': withWorker('new Worker("/module.js", { type: "module" })'),
    '/nested': withWorker('new Worker("/outer.js")'),
    '/inline': withWorker('new Worker(URL.createObjectURL(new Blob(["postMessage(1)"])))'),
    '/fetching': withWorker('new Worker("/fetching.js")'),
    '/nested-fetching': withWorker('new Worker("/outer-fetching.js")'),
    '/ended': page(
      'background:#0f0',
      '<p>A page.</p><script>const worker = new Worker("/hanging.js"); worker.onmessage = () => worker.terminate()</script>',
    ),
    '/absent': page('background:#0f0', '<p>A page.</p><script>new Worker("/none.js")</script>'),
    '/framed': page('background:#0f0', '<p>A page.</p><iframe src="/classic"></iframe>'),
    '/foreign': (request, response) => {
      const { port } = new URL(`http://${request.headers.host}`)
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end(page('background:#0f0', `<p>A page.</p><iframe src="http://other.example:${port}/classic"></iframe>`))
    },
    '/worker.js': script('postMessage(1)'),
    '/module.js': script('import { say } from "/said.js"; say()'),
    '/said.js': script('export const say = () => postMessage(1)'),
    '/outer.js': script('const inner = new Worker("/worker.js"); inner.onmessage = () => postMessage(1)'),
    '/fetching.js': script('fetch("/late").then((answer) => answer.text()).then(() => postMessage(1))'),
    '/outer-fetching.js': script('const inner = new Worker("/fetching.js"); inner.onmessage = () => postMessage(1)'),
    '/hanging.js': script('fetch("/never"); fetch("/worker.js").then(() => postMessage(1))'),
    '/late': answers(1_200),
    '/never': () => {},
  },
  { guard: { dnsServers: [names.address] } },
)

const quiet = { waitUntil: ['networkidle' as const], networkIdleTimeout: 8_000 }
/** Both kinds of tabs, see tab.ts. */
const TABS = [
  { name: 'a plain tab', options: {} },
  { name: 'a tab of Playwright', options: { locale: 'de-DE' } },
]

for (const { name, options } of TABS) {
  for (const path of ['/classic', '/module', '/nested', '/inline']) {
    t.test(`a page with a dedicated worker reaches networkidle: in ${name} for ${path}`, async (t) => {
      const { findings, pixels } = await stage.shoot(path, { ...quiet, ...options })
      t.strictSame(findings.warnings, [])
      t.strictSame(pixels.at(900, 500), GREEN)
    })
  }

  t.test(`networkidle waits in ${name} for the requests of a worker, nested or not`, async (t) => {
    for (const path of ['/fetching', '/nested-fetching']) {
      const { findings, pixels } = await stage.shoot(path, { ...quiet, ...options })
      t.strictSame(findings.warnings, [], path)
      t.strictSame(pixels.at(900, 500), GREEN, path)
    }
  })

  t.test(`networkidle is reached in ${name} when a worker ended during a request, or has no script`, async (t) => {
    for (const path of ['/ended', '/absent']) t.strictSame((await stage.shoot(path, { ...quiet, ...options })).findings.warnings, [], path)
  })

  t.test(`networkidle is reached in ${name} when a frame has a worker, of the page's site or of another`, async (t) => {
    for (const path of ['/framed', '/foreign']) {
      const { findings } = await stage.shootAt(`http://page.example:${new URL(stage.site.url('/')).port}${path}`, { ...quiet, ...options })
      t.strictSame(findings.warnings, [], path)
    }
  })
}
