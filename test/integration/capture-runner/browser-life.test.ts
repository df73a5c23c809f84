import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DEFAULT_CONTEXT } from '../../../capture-runner/src/plan/plan.ts'
import { argumentsOf, killGroup, listProcesses, treeOf } from '../../../capture-runner/src/runtime/processes.ts'
import { assertEvery } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { choose } from '../../support/length.ts'
import { servePages } from './stage/page-server.ts'
import { BLUE, decode, GREEN, isNear } from './stage/pixels.ts'
import { openStudio } from './stage/studio.ts'

// A runner whose browser processes are killed or hang, for each kind of process that a page can affect, and complaints about services that run for days:
// leaks, zombies, browsers that hang until the container is restarted.

// All browser profiles are in this directory.
const directory = mkdtempSync(join(tmpdir(), 'browser-life-'))
process.env.TMPDIR = directory

const site = await servePages({
  '/': '<!doctype html><title>Well</title><body style="background:#00ff00">',
  '/blue': '<!doctype html><title>Blue</title><body style="background:#0000ff">',
  '/tall': '<!doctype html><title>Tall</title><body style="background:#ff0000;height:9000px">',
  '/never': '<!doctype html><title>Busy</title><script>while (true);</script>',
  '/busy': '<!doctype html><p>Text.<script>new Worker(URL.createObjectURL(new Blob(["for (;;);"])))</script>',
})
const studio = await openStudio()
t.teardown(async () => {
  await studio.close()
  await site.close()
  rmSync(directory, { recursive: true, force: true })
})

/** Main processes of the browsers. */
const browsers = (): number[] =>
  listProcesses()
    .filter(({ pid, parent }) => parent === process.pid && argumentsOf(pid).some((word) => word.startsWith('--tintype-browser=')))
    .map(({ pid }) => pid)
const stateOf = (pid: number): string => {
  try {
    return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''
  } catch {
    return ''
  }
}
/** Processes of one type in a browser. Of the renderers, only the page's: the other waits for the next page. */
function below(browser: number, type: string): number[] {
  const found = treeOf(browser).filter((pid) => argumentsOf(pid).includes(`--type=${type}`))
  return type === 'renderer' ? found.toSorted((a, b) => workOf(b) - workOf(a)).slice(0, 1) : found
}
const workOf = (pid: number): number => Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[11] ?? 0)
const zombies = (): number[] => treeOf(process.pid).filter((pid) => stateOf(pid) === 'Z')
const isWell = async (): Promise<boolean> => (await studio.shoot(site.url('/'))).findings.pageTitle === 'Well'

for (const type of ['renderer', 'gpu-process', 'browser'] as const) {
  // failures.test.ts kills a browser, and freezes one, too.
  for (const signal of choose(['SIGKILL', 'SIGSTOP'] as const, (signal) =>
    type === 'gpu-process' ? signal === 'SIGKILL' : type === 'renderer',
  )) {
    t.test(`a runner whose ${type} gets ${signal} during a page takes the next screenshot, and leaves no zombie`, async (t) => {
      const { browserPid } = await studio.shoot(site.url('/'))
      const stop = new AbortController()
      const lost = studio.shoot(site.url('/never'), undefined, { signal: stop.signal }).then(
        () => 'a picture',
        (error: unknown) => error,
      )
      await eventually('the page is loading', async () => site.requests.includes('GET /never'))
      site.requests.length = 0
      const struck = type === 'browser' ? [browserPid] : below(browserPid, type)
      for (const pid of struck) process.kill(pid, signal)
      // The capture's deadline is over.
      stop.abort(new Error('late'))
      t.not(await lost, 'a picture')
      t.ok(await isWell())
      await eventually(
        'the affected processes have ended',
        async () => struck.length === 0 || !struck.some((pid) => 'RST'.includes(stateOf(pid) || '-')),
      )
      await eventually('the runner has no zombie processes', async () => zombies().length === 0)
    })
  }
}

t.test('the standby browser takes a small screenshot while a capture occupies the other', async (t) => {
  const stop = new AbortController()
  const busy = studio.shoot(site.url('/never'), undefined, { signal: stop.signal }).catch(() => {})
  await eventually('the page is loading', async () => site.requests.includes('GET /never'))
  await studio.browsers.checkStandby(AbortSignal.timeout(60_000))
  stop.abort(new Error('late'))
  await busy
  t.pass('it did')
})

t.test('a hanging standby browser is detected and replaced', async (t) => {
  await studio.browsers.checkStandby(AbortSignal.timeout(60_000))
  const { browserPid } = await studio.shoot(site.url('/'))
  const [standby] = browsers().filter((pid) => pid !== browserPid)
  process.kill(standby ?? 0, 'SIGSTOP')
  await t.rejects(studio.browsers.checkStandby(AbortSignal.timeout(3_000)))
  const isProven = () =>
    studio.browsers.checkStandby(AbortSignal.timeout(30_000)).then(
      () => true,
      () => false,
    )
  await eventually('another one has taken its place', isProven)
  await eventually('the hanging browser has ended', async () => standby !== undefined && !browsers().includes(standby))
  t.ok(await isWell())
})

t.test('a capture that takes the standby browser during its check keeps its window size', async (t) => {
  const { signal } = new AbortController()
  const plan = { ...DEFAULT_CONTEXT, viewport: { width: 400, height: 300 } }
  const checkStandby = () => studio.browsers.checkStandby(AbortSignal.timeout(60_000))
  for (let round = 0; round < 5; round++) {
    // A browser that has just started may have nothing to draw yet.
    await eventually('a standby browser is ready', () => checkStandby().then(() => true))
    const check = checkStandby().catch(() => {})
    const lease = await studio.browsers.lend(`checked-${round}`, plan, signal)
    await check
    const size = await lease.tab.evaluate<number[]>('[innerWidth, innerHeight]', signal)
    await studio.browsers.takeBack(lease, true)
    t.strictSame(size, [400, 300])
  }
})

t.test('the next page may load during a screenshot, and both screenshots are right', async (t) => {
  let next: ReturnType<typeof studio.shoot> | undefined
  const onPageReady = () => {
    next = studio.shoot(site.url('/blue'))
  }
  const first = await studio.shoot(site.url('/'), undefined, { onPageReady })
  const second = await next
  t.strictSame((await decode(first.picture)).at(5, 5).slice(0, 3), GREEN)
  t.strictSame((await decode(second?.picture ?? Buffer.of())).at(5, 5).slice(0, 3), BLUE)
  t.equal(second?.browserPid, first.browserPid)
})

for (const { what, path, options, early } of [
  { what: 'the window', path: '/', options: {}, early: 1 },
  { what: 'tiles, which take long', path: '/tall', options: { fullPage: true }, early: 0 },
  { what: 'a document', path: '/', options: { format: 'pdf' as const }, early: 0 },
])
  t.test(`a screenshot of ${what} blocks the next page ${early ? 'only until it begins' : 'to its end'}`, async (t) => {
    let ready = 0
    await studio.shoot(site.url(path), options, { onPageReady: () => ready++ })
    t.equal(ready, early)
  })

t.test('another account gets another browser at once; the old one ends after its screenshot', async (t) => {
  const { signal } = new AbortController()
  const lend = (account: string) => studio.browsers.lend(account, DEFAULT_CONTEXT, signal)
  const drawing = await lend('one')
  const other = await lend('two')
  t.not(other.browser.pid, drawing.browser.pid)
  const { data } = await drawing.tab.session.send('Page.captureScreenshot', { format: 'png' })
  t.not(data, '', 'it draws')
  await studio.browsers.takeBack(drawing, true)
  await eventually('the browser has ended', async () => !browsers().includes(drawing.browser.pid))
  const same = await lend('two')
  t.equal(same.browser.pid, other.browser.pid)
  for (const lease of [other, same]) await studio.browsers.takeBack(lease, true)
  t.ok(await isWell())
})

t.test('a browser serves many captures, and is replaced once it retains too much memory', async (t) => {
  const light = await studio.shoot(site.url('/'))
  t.equal((await studio.shoot(site.url('/'))).browserPid, light.browserPid)
  const narrow = await openStudio({ maxRetainedBytes: 1_000_000 })
  t.teardown(narrow.close)
  const { browserPid } = await narrow.shoot(site.url('/'))
  // Its memory is checked after every fifth capture.
  for (let captures = 2; captures <= 5; captures++) await narrow.shoot(site.url('/'))
  await eventually('the browser has been replaced', async () => !browsers().includes(browserPid))
  const next = await narrow.shoot(site.url('/'))
  t.not(next.browserPid, browserPid)
  t.equal(next.findings.pageTitle, 'Well')
})

/** Processes of Chromium outside of the running browsers. */
const strayProcesses = (): number[] => {
  const running = new Set([process.pid, ...browsers().flatMap((pid) => treeOf(pid))])
  return treeOf(process.pid).filter((pid) => !running.has(pid) && /chrom/.test(argumentsOf(pid).join(' ')))
}
const openFiles = (): number => readdirSync('/proc/self/fd').length
const profiles = (): string[] => readdirSync(directory).filter((name) => name.includes('profile'))
const twoRest = () =>
  eventually('two browsers are at rest', async () => browsers().length === 2 && profiles().length <= 2 && zombies().length === 0, 40_000)

const isGreen = async (account: string): Promise<boolean> => {
  const { picture } = await studio.shoot(site.url('/'), { viewportWidth: 300, viewportHeight: 200 }, { account })
  return isNear((await decode(picture)).at(200, 150), GREEN)
}

t.test(
  'complaint: leaks and zombie processes: after many captures, accounts, hangs and killed browsers only two browsers are left',
  async (t) => {
    await isGreen('one')
    await twoRest()
    const filesBefore = openFiles()
    for (let round = 0; round < 2; round++) {
      // Each change of account ends a browser.
      for (const account of ['one', 'one', 'two']) t.ok(await isGreen(account))
      await studio.shoot(site.url('/busy'), {}, { account: 'two' })
      await studio.shootInVain(site.url('/never'), { timeout: 1_000 }, { account: 'two' })
      for (const pid of browsers().slice(0, 1)) killGroup(pid)
    }
    t.ok(await isGreen('one'))
    await twoRest()
    t.strictSame(zombies(), [])
    t.ok(profiles().length <= 2, `a profile for each browser: ${profiles().join()}`)
    await eventually('files and sockets are closed', async () => openFiles() <= filesBefore + 5)
    // A renderer that starts between two reads of the process list is in no browser's tree yet. A leaked process stays.
    await eventually('no process of an ended browser is left', async () => strayProcesses().length === 0)
  },
)

t.test('complaint: a wedged browser keeps failing until someone restarts the container: it is replaced after one failure', async (t) => {
  await twoRest()
  const frozen = browsers()
  for (const pid of frozen.flatMap((browser) => treeOf(browser))) process.kill(pid, 'SIGSTOP')
  const outcomes: string[] = []
  // At most one capture per browser.
  for (let n = 0; n <= frozen.length && outcomes.at(-1) !== 'right'; n++) {
    const shot = await studio.shoot(site.url('/'), { timeout: 2_000, viewportWidth: 300, viewportHeight: 200 }).catch((error) => error.code)
    outcomes.push(typeof shot === 'string' ? shot : 'right')
  }
  t.equal(outcomes.at(-1), 'right', outcomes.join())
  assertEvery(t, outcomes.slice(0, -1), (code) => /^(TIMEOUT|INTERNAL_ERROR)$/.test(code), 'each failure has its code')
  await twoRest()
  assertEvery(t, browsers(), (pid) => !frozen.includes(pid), 'both were replaced')
})
