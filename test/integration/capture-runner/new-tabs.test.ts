import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { openStage, page } from '../options/options.ts'
import { GREEN, WHITE } from './stage/pixels.ts'

// Actions of the client that open a tab. The browser blocks tabs, so the target is shown in place of the page, or a warning says that it is not.

/** A page of another site. */
const other = createServer((_, response) => void response.end(page('background:#0f0', 'x'))).listen(0, '127.0.0.2')
await once(other, 'listening')
t.teardown(() => other.close())
const foreign = `http://127.0.0.2:${(other.address() as AddressInfo).port}/`

const opens = (script: string) => `<button id="b" onclick="${script}">x</button>`
const stage = await openStage(t, {
  '/report': page('background:#0f0', 'x'),
  '/save.csv': (_, response) => void response.writeHead(200, { 'content-type': 'text/csv', 'content-disposition': 'attachment' }).end('1'),
  '/slow.json': (_, response) => void setTimeout(() => response.end('{}'), 50),
  '/link': page('', '<a id="b" href="/report" target="_blank">x</a>'),
  '/nested': page('', '<a href="/report" target="report" rel="noopener noreferrer"><b id="b">x</b></a>'),
  '/base': page('', '<a id="b" href="report">x</a>', '<base target="_blank">'),
  '/shadow': page(
    '',
    `<p id="host"></p><script>host.attachShadow({ mode: 'open' }).innerHTML = '<a id="b" href="/report" target="_blank">x</a>'</script>`,
  ),
  '/script': page('', opens("window.open('/report', 'report', 'width=900')")),
  '/modified': page(
    '',
    opens("Object.assign(document.createElement('a'), { href: '/report' }).dispatchEvent(new MouseEvent('click', { ctrlKey: true }))"),
  ),
  '/blob': page('', opens("window.open(window.URL.createObjectURL(new Blob(['<body style=background:lime>x'], { type: 'text/html' })))")),
  '/get': page('', '<form action="/report" target="_blank"><input name="q" value="1"><button id="b">x</button></form>'),
  '/requested': page('', opens("fetch('/slow.json').then((r) => r.json()).then(() => window.open('/report'))")),
  '/focused': page('', '<a href="/report" target="_blank" id="b">x</a><script>b.focus()</script>'),
  '/foreign-link': page('', `<a id="b" href="${foreign}" target="_blank">x</a>`),
  '/post': page('', '<form action="/report" method="post" target="_blank"><button id="b">x</button></form>'),
  '/foreign-script': page('', opens(`window.open('${foreign}')`)),
  '/empty': page('', opens("window.open('').document.write('x')")),
  '/file': page('', '<a id="b" href="/save.csv" target="_blank">x</a>'),
  '/two': page('', opens("window.open('/report'); location.href = '/landing'")),
  '/landing': page('', 'x'),
  '/several': page('', '<a class="b" href="/report" target="_blank">x</a><a class="b" href="/landing" target="_blank">y</a>'),
  '/unasked': page(
    '',
    `${opens("document.title = 'pressed'")}<script>window.open('/report'); setTimeout(() => window.open('/report'), 50)</script>`,
  ),
  '/fallback': page('', opens("if (!window.open('/report')) location.href = '/report'")),
  '/handler': page('', '<a id="b" href="javascript:void(0)" target="_blank" onclick="document.title = 1">x</a>'),
})
const noted = ({ warnings }: { warnings: string[] }) => warnings.filter((text) => text.includes('tab'))

const shown: Record<string, CaptureOptions> = {
  '/link': { click: '#b' },
  '/link#without-scripts': { click: '#b', javascriptEnabled: false },
  '/nested': { click: '#b' },
  '/base': { click: '#b' },
  '/shadow': { click: '#b' },
  '/script': { click: '#b' },
  '/modified': { click: '#b' },
  '/blob': { click: '#b' },
  '/get': { click: '#b' },
  '/requested': { click: '#b' },
  '/focused': { pressKey: 'Enter' },
  '/foreign-link': { click: '#b' },
  '/landing': { scripts: "window.open('/report')" },
}
t.test('a tab that an action of the client opens is shown in place of the page', async (t) => {
  for (const [path, options] of Object.entries(shown)) {
    const { pixels, findings } = await stage.shoot(path, options)
    t.strictSame([pixels.at(600, 400), noted(findings)], [GREEN, []], path)
  }
  t.equal(stage.lastSeen('/report?q=1').headers.referer, stage.site.url('/get'))
})

const named: Record<string, [options: CaptureOptions, warning: RegExp]> = {
  '/post': [{ click: '#b' }, /^click opened a new tab, which the picture does not show: .+\/report\. It gets a form by POST/],
  '/foreign-script': [{ click: '#b' }, /127\.0\.0\.2:\d+\/\. A script opened it, and it is of another site/],
  '/empty': [{ click: '#b' }, /about:blank\. It has no URL/],
  '/file': [{ click: '#b' }, /save\.csv\. It returned no page/],
  '/two': [{ click: '#b' }, /report\. The page went to another URL/],
  '/several': [{ clickAll: '.b' }, /^click_all opened a new tab.+report\. Use click/],
}
t.test('a tab that is not shown is named in a warning', async (t) => {
  for (const [path, [options, warning]] of Object.entries(named)) {
    const { pixels, findings } = await stage.shoot(path, options)
    t.strictSame(pixels.at(600, 400), WHITE, path)
    t.match(noted(findings), [warning], path)
  }
})

t.test('a popup that no action opens stays blocked without a warning', async (t) => {
  for (const options of [{}, { scripts: 'document.title = 1' }, { hover: '#b' }]) {
    const { pixels, findings } = await stage.shoot('/unasked', options)
    t.strictSame([pixels.at(600, 400), noted(findings)], [WHITE, []], JSON.stringify(options))
  }
  for (const path of ['/fallback', '/handler']) t.strictSame(noted((await stage.shoot(path, { click: '#b' })).findings), [], path)
})
