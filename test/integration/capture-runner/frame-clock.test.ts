import t from 'tap'
import { argumentsOf, treeOf } from '../../../capture-runner/src/runtime/processes.ts'
import { eventually } from '../../support/eventually.ts'
import { servePages } from './stage/page-server.ts'
import { BLUE, decode, GREEN } from './stage/pixels.ts'
import { openStudio } from './stage/studio.ts'

// Captures in tabs whose frames the runner begins: timers, frames, animations and drawing pass together (ADR 34).

const PAGE = '<!doctype html><body style="margin:200px;background:#ff0000"><h1>Harbor</h1>'
/** Waits as Recharts does: frames count against performance.now(). Then a tween follows the times of frames. */
const CHART = `${PAGE}<script>
  const begun = performance.now()
  const tween = (start, now) => {
    if (now - start < 1200) requestAnimationFrame((next) => tween(start, next))
    else document.body.style.background = '#00ff00'
  }
  const wait = (now) => (now - begun < 400 ? requestAnimationFrame(wait) : tween(now, now))
  requestAnimationFrame(wait)
</script>`
/** Shows nothing new until a late timer starts an animation. */
const LATE = `${PAGE}<script>
  setTimeout(() => document.body.animate([{ background: '#ff0000' }, { background: '#0000ff' }], { duration: 200, fill: 'forwards' }), 1500)
</script>`
const RESTING = `<!doctype html><body style="margin:0;background:linear-gradient(#123,#fed);font:20px serif"><h1>Harbor</h1>
  <p style="filter:blur(1px)">The harbor opens at six.</p><canvas id="c" width="300" height="100"></canvas><p style="margin-top:900px">Below</p>
  <script>
    c.getContext('2d').fillText('Boats', 20, 50)
    // Chromium may send the position of the window after the first scripts of a page.
    setTimeout(() => (document.querySelector('h1').textContent = [outerWidth, outerHeight, innerWidth, innerHeight, screen.width, devicePixelRatio].join()), 500)
  </script>`

const site = await servePages({
  '/chart': CHART,
  '/late': LATE,
  '/resting': RESTING,
  '/blank-at-first': `<!doctype html><body style="margin:200px"><script>
    setTimeout(() => {
      document.body.style.background = '#00ff00'
      document.body.append('Harbor')
    }, 2100)</script>`,
  '/frozen': `${PAGE}<script>fetch('/freeze').then(() => (document.body.style.background = '#00ff00'))</script>`,
  '/freeze': (_, response) => {
    // Once only: the page is loaded a second time.
    for (const pid of frozen.splice(0)) process.kill(pid, 'SIGSTOP')
    response.end()
  },
})
/** The processes that the next request for /freeze stops. */
const frozen: number[] = []
const framed = await openStudio({ hasFrameControl: true })
t.teardown(async () => {
  await framed.close()
  await site.close()
})
const colorOf = async (path: string, options = {}): Promise<number[]> =>
  (await decode((await framed.shoot(site.url(path), options)).picture)).at(50, 50).slice(0, 3)

t.test('a chart that waits for frames and then follows their times is finished', async (t) => {
  t.strictSame(await colorOf('/chart'), GREEN)
})

t.test('an animation that a late timer starts in a page that showed nothing new is finished', async (t) => {
  t.strictSame(await colorOf('/late'), BLUE)
})

t.test('a page that rests has the same pixels as in a tab that draws by itself', async (t) => {
  // The flags of frame control, so that only the tabs differ.
  const usual = await openStudio({ hasFrameControl: false, extraArguments: ['--disable-lcd-text'] })
  t.teardown(usual.close)
  const kinds = {
    'the window': {},
    'a window of another size': { viewportWidth: 700, viewportHeight: 500, darkMode: true },
    'a scale of 2': { viewportWidth: 600, viewportHeight: 400, deviceScaleFactor: 2 },
    'a part of the window': { clipX: 10, clipY: 10, clipWidth: 200, clipHeight: 100 },
    'a part below the window': { clipX: 10, clipY: 900, clipWidth: 200, clipHeight: 300 },
    'a format with a quality': { format: 'webp', imageQuality: 60 },
  } as const
  for (const [name, options] of Object.entries(kinds)) {
    const [one, other] = [await framed.shoot(site.url('/resting'), options), await usual.shoot(site.url('/resting'), options)]
    t.ok(one.picture.equals(other.picture), name)
  }
})

t.test('a page that was blank is drawn again a moment later', async (t) => {
  const { picture, findings } = await framed.shoot(site.url('/blank-at-first'))
  t.strictSame((await decode(picture)).at(0, 0).slice(0, 3), GREEN)
  t.strictSame(findings.warnings, [])
})

t.test('the standby browser takes its small screenshot before and after captures', async (t) => {
  for (let round = 0; round < 3; round++) {
    await eventually('a standby browser is ready', () => framed.browsers.checkStandby(AbortSignal.timeout(20_000)).then(() => true))
    // Another account gets the browser that was checked.
    await framed.shoot(site.url('/resting'), { viewportWidth: 400, viewportHeight: 300 }, { account: `checked-${round}` })
  }
  t.pass('all screenshots were taken')
})

t.test('two tabs of one browser never wait for each other’s frames', async (t) => {
  const pids = new Set<number>()
  for (let round = 0; round < 4; round++) {
    const next = Promise.withResolvers<Awaited<ReturnType<typeof framed.shoot>>>()
    const onPageReady = () => next.resolve(framed.shoot(site.url('/chart')))
    const [chart, late] = await Promise.all([framed.shoot(site.url('/chart')), framed.shoot(site.url('/late'), {}, { onPageReady })])
    const after = await next.promise
    for (const { browserPid } of [chart, late, after]) pids.add(browserPid)
    const colors = await Promise.all([chart, late, after].map(async ({ picture }) => (await decode(picture)).at(50, 50).slice(0, 3)))
    t.strictSame(colors, [GREEN, BLUE, GREEN])
  }
  t.equal(pids.size, 1, 'they share a browser')
})

t.test('a capture whose frame never ends is taken again in another browser, and so is the one beside it', async (t) => {
  const { browserPid } = await framed.shoot(site.url('/resting'))
  frozen.push(...treeOf(browserPid).filter((pid) => argumentsOf(pid).includes('--type=gpu-process')))
  const both = await Promise.all([framed.shoot(site.url('/frozen')), framed.shoot(site.url('/chart'))])
  for (const { picture, findings, browserPid: pid } of both) {
    t.strictSame((await decode(picture)).at(50, 50).slice(0, 3), GREEN)
    t.match(findings.warnings, [/^the browser stopped drawing, so the page was loaded a second time$/])
    t.not(pid, browserPid)
  }
  t.strictSame(await colorOf('/chart'), GREEN, 'later captures draw')
})
