import t from 'tap'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { argumentsOf, treeOf } from '../../../capture-runner/src/runtime/processes.ts'
import { eventually } from '../../support/eventually.ts'
import { servePages } from './stage/page-server.ts'
import { BLUE, decode, GREEN } from './stage/pixels.ts'
import { openStudio } from './stage/studio.ts'

// Captures in tabs whose frames the runner begins: timers, frames, animations and drawing pass together (ADR 34). A script that waits for the page's
// virtual clock in a loop ends, and pages cannot tell that their clock is not the browser's own.

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
const studio = await openStudio({ hasFrameControl: true })
t.teardown(async () => {
  await studio.close()
  await site.close()
})
const colorOf = async (path: string, options = {}): Promise<number[]> =>
  (await decode((await studio.shoot(site.url(path), options)).picture)).at(50, 50).slice(0, 3)

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
    const [one, other] = [await studio.shoot(site.url('/resting'), options), await usual.shoot(site.url('/resting'), options)]
    t.ok(one.picture.equals(other.picture), name)
  }
})

t.test('a page that was blank is drawn again a moment later', async (t) => {
  const { picture, findings } = await studio.shoot(site.url('/blank-at-first'))
  t.strictSame((await decode(picture)).at(0, 0).slice(0, 3), GREEN)
  t.strictSame(findings.warnings, [])
})

t.test('the standby browser takes its small screenshot before and after captures', async (t) => {
  for (let round = 0; round < 3; round++) {
    await eventually('a standby browser is ready', () => studio.browsers.checkStandby(AbortSignal.timeout(20_000)).then(() => true))
    // Another account gets the browser that was checked.
    await studio.shoot(site.url('/resting'), { viewportWidth: 400, viewportHeight: 300 }, { account: `checked-${round}` })
  }
  t.pass('all screenshots were taken')
})

t.test('two tabs of one browser never wait for each other’s frames', async (t) => {
  const pids = new Set<number>()
  for (let round = 0; round < 4; round++) {
    const next = Promise.withResolvers<Awaited<ReturnType<typeof studio.shoot>>>()
    const onPageReady = () => next.resolve(studio.shoot(site.url('/chart')))
    const [chart, late] = await Promise.all([studio.shoot(site.url('/chart')), studio.shoot(site.url('/late'), {}, { onPageReady })])
    const after = await next.promise
    for (const { browserPid } of [chart, late, after]) pids.add(browserPid)
    const colors = await Promise.all([chart, late, after].map(async ({ picture }) => (await decode(picture)).at(50, 50).slice(0, 3)))
    t.strictSame(colors, [GREEN, BLUE, GREEN])
  }
  t.equal(pids.size, 1, 'they share a browser')
})

t.test('a capture whose frame never ends is taken again in another browser, and so is the one beside it', async (t) => {
  const { browserPid } = await studio.shoot(site.url('/resting'))
  frozen.push(...treeOf(browserPid).filter((pid) => argumentsOf(pid).includes('--type=gpu-process')))
  const both = await Promise.all([studio.shoot(site.url('/frozen')), studio.shoot(site.url('/chart'))])
  for (const { picture, findings, browserPid: pid } of both) {
    t.strictSame((await decode(picture)).at(50, 50).slice(0, 3), GREEN)
    t.match(findings.warnings, [/^the browser stopped drawing, so the page was loaded a second time$/])
    t.not(pid, browserPid)
  }
  t.strictSame(await colorOf('/chart'), GREEN, 'later captures draw')
})

const signal = AbortSignal.timeout(300_000)
/** Opens a document whose clock stands still. */
async function openStill() {
  const lease = await studio.browsers.lend('default', DEFAULT_CONTEXT, signal)
  t.teardown(() => studio.browsers.takeBack(lease, true))
  const { session, mainFrame, openBrowserSession } = lease.tab
  await session.send('Page.setDocumentContent', { frameId: mainFrame, html: '<p>A page.</p>' })
  await session.send('Emulation.setVirtualTimePolicy', { policy: 'pause' })
  const read = async (expression: string) => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  /** Lets time pass on the page's clock. */
  const pass = async (budget: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    session.on('Emulation.virtualTimeBudgetExpired', () => resolve())
    await session.send('Emulation.setVirtualTimePolicy', { policy: 'advance', budget })
    await promise
  }
  return { read, pass, openBrowserSession }
}

/** Expressions that read the time. */
const READS = [
  'Date.now()',
  '+new Date()',
  '+new (class extends Date {})()',
  'performance.now()',
  "performance.mark('now').startTime",
  "performance.measure('now').duration",
  'Temporal.Now.instant().epochMilliseconds',
  'Temporal.Now.zonedDateTimeISO().epochMilliseconds',
  'Temporal.Now.plainDateTimeISO().millisecond',
  'Temporal.Now.plainTimeISO().millisecond',
  'format.format()',
  'format.formatToParts()[0].value',
  "new Event('now').timeStamp",
]

for (const expression of READS) {
  t.test(`a loop never ended that waits for ${expression}`, async (t) => {
    const { read } = await openStill()
    await read("globalThis.format = new Intl.DateTimeFormat('en', { fractionalSecondDigits: 3 }), 1")
    t.equal(await read(`{ const before = ${expression}; while (${expression} === before); 'ended' }`), 'ended')
  })
}

/** Runs a script in a worker, and that in a worker of its own, and returns what they send. */
const inWorkers = (script: string) => `new Promise((done) => {
  const open = (text) => new Worker(URL.createObjectURL(new Blob([text])))
  const inner = ${JSON.stringify(`${script}; postMessage('ended')`)}
  const outer = inner.replace(/postMessage.*/, '(' + open + ')(' + JSON.stringify(inner) + ').onmessage = ({ data }) => postMessage(data)')
  open(outer).onmessage = ({ data }) => done(data)
})`

t.test('a loop never ended that waits in the first line of a worker', async (t) => {
  const { read, pass } = await openStill()
  // Workers do not start while the clock stands still. Without help, the loop would take half an hour. On a busy machine, too, they read the same
  // time often meanwhile.
  const slowly = setInterval(() => pass(5), 500)
  t.teardown(() => clearInterval(slowly))
  t.equal(await read(inWorkers('const before = performance.now(); while (performance.now() - before < 20_000)')), 'ended')
})

t.test('a loop never ended that uses up its idle time', async (t) => {
  const { read, pass } = await openStill()
  const ended = read("new Promise((done) => requestIdleCallback((deadline) => { while (deadline.timeRemaining() > 0); done('ended') }))")
  // On a busy machine, the browser may run the callback only later.
  const slowly = setInterval(() => pass(100), 500)
  t.teardown(() => clearInterval(slowly))
  t.equal(await ended, 'ended')
})

t.test('time goes on after a loop and never goes back, and no timer is early', async (t) => {
  const { read, pass } = await openStill()
  const { began, ended, seconds } = await read(`
    const times = () => ({ date: Date.now(), precise: performance.now(), event: new Event('now').timeStamp, instant: Temporal.Now.instant().epochMilliseconds })
    const began = times(), event = new Event('now'), stamp = event.timeStamp
    while (Date.now() - began.date < 2000);
    const ended = times()
    globalThis.timer = 'not due'; setTimeout(() => { timer = times().precise - ended.precise }, 40)
    ;({ began, ended, seconds: Date().slice(0, 24) === new Date(ended.date).toString().slice(0, 24) })`)
  t.ok(seconds, 'the text of the date agrees')
  for (const [name, time] of Object.entries<number>(ended))
    t.ok(Math.abs(time - began[name] - 2_000) < 10, `${name}: ${began[name]}, ${time}`)
  await pass(30)
  const later = await read("timer === 'not due' && event.timeStamp === stamp && times()")
  for (const [name, time] of Object.entries<number>(later)) t.ok(time >= ended[name] + 29, `${name}: ${ended[name]}, ${time}`)
  await pass(20)
  const timer = await read('timer')
  t.ok(timer > 39, `${timer}`)
  const measured = await read(
    "performance.mark('one'); const one = performance.now(); [performance.getEntriesByName('one')[0].startTime - one, performance.measure('two', 'one').duration, performance.measure('three', { start: 5, duration: 3 }).startTime]",
  )
  t.ok(Math.abs(measured[0]) < 5 && measured[1] >= 0 && measured[1] < 5, `${measured}`)
  t.equal(measured[2], 5)
})

t.test('a script that reads the time often in real time gets the browser’s own', async (t) => {
  const lease = await studio.browsers.lend('default', DEFAULT_CONTEXT, signal)
  t.teardown(() => studio.browsers.takeBack(lease, true))
  const reading =
    "const before = new Event('now'); while (performance.now() - before.timeStamp < 300) Date.now(); Date.now() - performance.timeOrigin - performance.now()"
  const { result } = await lease.tab.session.send('Runtime.evaluate', { expression: reading })
  t.ok(Math.abs(result.value) < 5, `${result.value}`)
})

/** What the functions that tell the time look like, also to another frame. */
const LOOKS = `(() => {
  const frame = document.body.appendChild(document.createElement('iframe')).contentWindow
  const format = new Intl.DateTimeFormat('en')
  const owners = { window, Date, 'Date.prototype': Date.prototype, 'Performance.prototype': Performance.prototype, 'Event.prototype': Event.prototype,
    'IdleDeadline.prototype': IdleDeadline.prototype, 'Intl.DateTimeFormat.prototype': Intl.DateTimeFormat.prototype, 'Temporal.Now': Temporal.Now, format, 'Function.prototype': Function.prototype }
  const errorOf = (run) => { try { return typeof run() } catch ({ name, message }) { return name + ': ' + message } }
  const describe = (value) => typeof value !== 'function' ? typeof value : [
    value.name, value.length, String(value), Function.prototype.toString.call(value), frame.Function.prototype.toString.call(value), Reflect.ownKeys(value).map(String).join(),
    Object.getPrototypeOf(value) === Function.prototype, Object.isExtensible(value), Object.prototype.toString.call(value), String(value.bind()),
    errorOf(() => value.call({})), errorOf(() => value.call(undefined)), errorOf(() => new value()), errorOf(() => value.prototype),
  ].join(' | ')
  const properties = { window: ['Date'], 'Date.prototype': ['constructor', 'toString'], 'Function.prototype': ['toString'] }
  const looks = {}
  for (const [name, owner] of Object.entries(owners))
    for (const key of properties[name] ?? Reflect.ownKeys(owner)) {
      const { value, get, set, ...rest } = Object.getOwnPropertyDescriptor(owner, key)
      if (name === 'Intl.DateTimeFormat.prototype' || typeof key !== 'symbol') looks[name + '.' + String(key)] = [describe(value), describe(get), describe(set), JSON.stringify(rest)]
    }
  const date = new Date(2026, 0, 15)
  const own = {
    format: [format.format === format.format, describe(format.format), format.format(date), format.format.call(7, date), format.formatToParts(date).length, errorOf(() => format.format(NaN))],
    dates: [new Date() instanceof Date, new Date(5).getTime(), Date.prototype.constructor === Date, new Date().constructor === Date, class extends Date {}.name, String(Date.UTC(2026)),
      Object.prototype.toString.call(new Date()), structuredClone(date).getTime(), Reflect.construct(Date, [], Array) instanceof Array, new Date(date).getTime(), new (date.constructor)(7).getTime(),
      typeof Date(), Date(5).length, typeof (class extends Date {}).now, errorOf(() => new Date(Symbol())), errorOf(() => Date.prototype.getTime.call({})), new Date(undefined).getTime(), Date.length],
    precision: [performance.now(), new Event('now').timeStamp].map((time) => Math.abs(time * 10 - Math.round(time * 10)) < 0.01),
    marks: [performance.mark('a', { detail: 3, startTime: 4 }).detail, performance.mark('b', { detail: 5 }).detail, errorOf(() => performance.mark()), errorOf(() => performance.mark('c', 7)),
      errorOf(() => performance.measure('d', 'absent')), errorOf(() => performance.measure('d', {})), performance.measure('d', { start: 1, end: 3 }).duration, performance.measure('d', 'a').startTime],
    errors: [errorOf(() => Temporal.Now.instant.call(7)), errorOf(() => Temporal.Now.zonedDateTimeISO('nowhere')), errorOf(() => new Date.now())],
    keys: [Reflect.ownKeys(window).filter((key) => key !== 'SharedWorker').map(String).join(), Reflect.ownKeys(globalThis.performance).length],
  }
  frame.frameElement.remove()
  return JSON.stringify({ ...looks, ...own }, undefined, 1)
})()`

t.test('pages see the browser’s own clock, also after a loop', async (t) => {
  const { read, openBrowserSession } = await openStill()
  const control = await openBrowserSession()
  const { targetId } = await control.send('Target.createTarget', { url: 'about:blank' })
  t.teardown(() => control.send('Target.closeTarget', { targetId }))
  const { sessionId } = await control.send('Target.attachToTarget', { targetId, flatten: true })
  const { result } = await control.child(sessionId, () => {}).send('Runtime.evaluate', { expression: LOOKS })
  const expected = JSON.parse(result.value)
  t.strictSame(JSON.parse(await read(LOOKS)), expected)
  await read('{ const before = Date.now(); while (Date.now() - before < 50); }')
  t.strictSame(JSON.parse(await read(LOOKS)), expected)
})
