import sharp from 'sharp'
import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import { choose, isFullLength } from '../../support/length.ts'
import { ACCOUNT, type Page, startScheduleStage } from './stage.ts'

// What scheduled runs are compared with, with a real API server, store and browser.

const document = (body: string): string => `<!doctype html><title>Page</title><body style="margin:0;background:#fff"><h1>Page</h1>${body}`
const square = (x: number): string =>
  document(`<div style="position:absolute;left:${x}px;top:200px;width:60px;height:60px;background:#d00"></div>`)
const SVG = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="120"><rect width="200" height="120" fill="#cde"/><circle cx="100" cy="60" r="40" fill="#36c"/></svg>',
)
const WORDS = 'The quick brown fox jumps over the lazy dog. '

/** Bodies of pages that look the same in each capture, although their parts are drawn in many ways. */
const STABLE_PAGES: Readonly<Record<string, string>> = {
  article: `<h1 style="font:40px serif">News</h1><p style="font:17px/1.6 sans-serif">${WORDS.repeat(20)}</p>`,
  scripts: '<p lang="ja">日本語の文章</p><p lang="ar" dir="rtl">نص عربي</p><p lang="th">ข้อความภาษาไทย</p><p>Größe ÷ 3 – ☃ 🚀</p>',
  gradients:
    '<div style="height:300px;background:conic-gradient(red,gold,green,blue,red);border-radius:40px;box-shadow:0 0 40px #888"></div>',
  picture: `<img src="data:image/svg+xml,${SVG}" width="400"><img loading="lazy" src="data:image/svg+xml,${SVG}" width="500">`,
  canvas:
    '<canvas id="c" width="500" height="300"></canvas><script>const g=c.getContext("2d");for(let i=0;i<60;i++){g.fillStyle="hsl("+i*6+" 70% 50%)";g.fillRect(i*8,150-Math.sin(i/6)*100,7,200)}</script>',
  table: `<table border="1">${Array.from({ length: 12 }, (_, row) => `<tr>${Array.from({ length: 6 }, (_, cell) => `<td>${row * cell}</td>`).join('')}</tr>`).join('')}</table>`,
  entrance:
    '<style>@keyframes in{from{opacity:0;transform:translateY(80px)}}h2{animation:in 900ms ease-out both}</style><h2>Welcome</h2><h2 style="animation-delay:400ms">Slowly</h2>',
  late: '<ul id="list"></ul><script>setTimeout(()=>{for(let i=0;i<9;i++)list.insertAdjacentHTML("beforeend","<li>Item "+i+"</li>")},300)</script>',
}

const pages: Record<string, Page> = {}
const stage = await startScheduleStage(t, pages)
const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)
const runOf = async (name: string) => (await stage.runOnce([name])).get(name)!

const answerWith =
  (status: number, body: string): Page =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end(body)
const login = '<form action="/login"><input name="user"><input type="password" name="word"><button>Enter</button></form>'

/** What a site shows now and then in place of its page. */
const ALL_UNFIT_PAGES: readonly (readonly [reason: string, page: Page])[] = [
  ['http_error', answerWith(503, document('<p>Unavailable</p>'))],
  ['http_error', answerWith(429, document('<p>Too many requests</p>'))],
  ['login', document(login)],
  ['bot_challenge', document('<div class="g-recaptcha" style="width:300px;height:78px">I am not a robot</div>')],
  [
    'broken_off',
    (_, response) => void response.writeHead(200, { 'content-type': 'text/html', 'content-length': '99999' }).end(document('<p>Half')),
  ],
  ['blank', '<!doctype html><body></body>'],
]
/** Each reason once. */
const UNFIT_PAGES = choose(ALL_UNFIT_PAGES, (_, index) => index !== 1)

t.test('an error page, a login form or a captcha was a change, and became the baseline', async (t) => {
  pages['/unfit'] = square(100)
  await stage.create('unfit', { comparison: {} })
  await runOf('unfit')
  for (const [index, [reason, page]] of UNFIT_PAGES.entries()) {
    pages['/unfit'] = page
    for (let again = 0; again < (index === 0 ? 2 : 1); again++) {
      const run = await runOf('unfit')
      t.match(run.status?.result, { unfit: reason, comparison: { changed: false, skipped: reason } }, reason)
      const status = await stage.statusOf('unfit')
      t.match(
        status.conditions?.find(({ type }) => type === 'Fit'),
        { status: 'False' },
      )
      t.equal(status.baseline?.id, run.spec.options?.compareTo, 'the baseline stays')
    }
    pages['/unfit'] = square(100)
    t.match((await runOf('unfit')).status?.result?.comparison, { changed: false, rule: 'identical' })
  }
  t.equal(stage.eventsOf('unfit', 'Unfit').length, UNFIT_PAGES.length, 'one Event for each time')
  t.equal(stage.eventsOf('unfit', 'Fit').length, UNFIT_PAGES.length)
  t.strictSame(stage.eventsOf('unfit', 'Changed'), [])
})

t.test('ignored elements do not count, also when they are gone', async (t) => {
  pages['/ignored'] = square(100).replace('<div', '<div id="ad"')
  await stage.create('ignored', { comparison: { threshold: 0, ignore: [{ selector: '#ad' }] } })
  await runOf('ignored')
  t.match((await stage.statusOf('ignored')).baseline?.ignored, [{ selector: '#ad', boxes: [{ x: 100, y: 200, width: 60, height: 60 }] }])
  pages['/ignored'] = document('')
  t.match((await runOf('ignored')).status?.result?.comparison, { changed: false, changedPixels: 0 })
})

const MOVES_FOR_EVER = `<div id="ticker" style="position:absolute;left:20px;top:300px;width:300px;height:40px;overflow:hidden;background:#eee">
<b style="position:relative;display:block;width:60px;height:40px;background:#06c"></b></div>
<script>let n = 0; const step = () => { document.querySelector('b').style.left = (n += 7) % 240 + 'px'; requestAnimationFrame(step) }; step()</script>`

t.test('each run of a page that moves for ever waited to the end: a run learns from the one before', async (t) => {
  pages['/ticker'] = `${square(100)}${MOVES_FOR_EVER}`
  await stage.create('ticker', { comparison: {} })
  // On a busy machine, the browser is too late for frame callbacks now and then, and the runner stops the scripts.
  const runUntilNamed = async () => {
    for (let n = 0; n < 5; n++) {
      const run = await runOf('ticker')
      if (run.status?.result?.moving?.elements.length) return run
    }
    throw new Error('no run named the ticker')
  }
  const named = await runUntilNamed()
  t.strictSame(named.status?.result?.moving?.elements, ['#ticker'])
  t.ok(named.status?.result?.warnings?.some((warning) => warning.includes('in #ticker. compare_ignore leaves elements out')))
  t.strictSame((await stage.statusOf('ticker')).moving?.elements, ['#ticker'])
  const second = await runOf('ticker')
  t.strictSame(second.spec.scheduleRef?.moving?.elements, ['#ticker'])
  t.match(second.status?.result?.comparison, { changed: false })
  pages['/ticker'] = `${square(300)}${MOVES_FOR_EVER}`
  t.match((await runOf('ticker')).status?.result?.comparison, { changed: true }, 'a change beside it is still reported')
  t.match(
    stage.eventsOf('ticker', 'StillMoving')[0]?.message,
    /in #ticker\. To leave that out of comparisons, add it to spec\.comparison\.ignore/,
  )

  await stage.schedules.patch('ticker', mergePatch({ spec: { comparison: { ignore: [{ selector: '#ticker' }] } } }))
  t.strictSame((await runOf('ticker')).status?.result?.moving?.elements ?? [], [], 'an ignored element is not waited for')
})

t.test('pages that do not change raise no alarm, and each injected change is reported once with a picture of it', async (t) => {
  const names = Object.keys(STABLE_PAGES)
  for (const [name, body] of Object.entries(STABLE_PAGES)) pages[`/${name}`] = document(body)
  await Promise.all(names.map((name) => stage.create(name, { comparison: {}, template: { url: '', options: { fullPage: true } } })))
  const changesOf = async () => {
    const runs = await stage.runOnce(names)
    return names.filter((name) => runs.get(name)?.status?.result?.comparison?.changed)
  }
  for (let n = 0; n < (isFullLength ? 4 : 2); n++) t.strictSame(await changesOf(), [], `run ${n}`)
  t.strictSame(
    names.flatMap((name) => stage.eventsOf(name, 'Changed')),
    [],
  )
  for (const [place, name] of names.entries()) {
    const box = `left:${20 + place * 30}px;top:${30 + place * 20}px;width:40px;height:40px`
    pages[`/${name}`] = document(`${STABLE_PAGES[name]}<div style="position:absolute;${box};background:#d00"></div>`)
  }
  const runs = await stage.runOnce(names)
  for (const [place, name] of names.entries()) {
    const run = runs.get(name)!
    t.equal(run.status?.result?.comparison?.changed, true, name)
    const diff = await stage.readObject(objectKey(ACCOUNT, idOf(run), 'diff.png'))
    const area = { left: 20 + place * 30, top: 30 + place * 20, width: 40, height: 40 }
    const { data } = await sharp(diff).removeAlpha().extract(area).raw().toBuffer({ resolveWithObject: true })
    const red = data.filter((value, index) => index % 3 === 0 && value === 230 && data[index + 1] === 0).length
    t.ok(red > 1_000, `${name}: the picture shows ${red} of 1600 pixels in red`)
  }
  t.strictSame(await changesOf(), [], 'and not again')
  t.strictSame(
    names.map((name) => stage.eventsOf(name, 'Changed').length),
    names.map(() => 1),
  )
})
