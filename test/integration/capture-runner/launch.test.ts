import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, type CDPSession, chromium, type Page } from 'playwright'
import t from 'tap'
import { launchBrowser } from '../../../capture-runner/src/browser/browser.ts'
import { directly, parentOf } from '../../../capture-runner/src/browser/devtools.ts'
import { browserContextIdOf, pageSessionOf, workerSessionsOf } from '../../../capture-runner/src/browser/playwright-internals.ts'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import { argumentsOf, killGroup, listProcesses, treeOf } from '../../../capture-runner/src/runtime/processes.ts'
import { eventually } from '../../support/eventually.ts'
import { choose } from '../../support/length.ts'
import { CHROMIUM } from './stage/studio.ts'

// How browsers start. One may stop at any moment of its launch.

const LAUNCH_MILLISECONDS = 2_000
const settings = {
  executablePath: CHROMIUM,
  chromiumSandbox: process.getuid?.() !== 0,
  guard: createGuard({ ownAddresses: [] }),
  launchMilliseconds: LAUNCH_MILLISECONDS,
}
const browsers = (): number[] =>
  listProcesses()
    .filter(({ pid, parent }) => parent === process.pid && argumentsOf(pid).some((word) => word.includes('--tintype-browser')))
    .map(({ pid }) => pid)

t.test('a launch fails and leaves no process when the browser stops during it', async (t) => {
  for (const delay of choose([0, 35, 40, 44, 48, 52, 56, 60, 65, 70, 80, 100], (_, index) => index % 3 === 0)) {
    const starting = launchBrowser(settings).catch(() => undefined)
    const pid = await eventually('the browser is there', async () => browsers()[0], 10_000)
    await sleep(delay)
    for (const each of treeOf(pid)) process.kill(each, 'SIGSTOP')
    const outcome = await Promise.race([
      starting.then((browser) => browser ?? 'failed'),
      sleep(5 * LAUNCH_MILLISECONDS, 'endless' as const),
    ])
    t.not(outcome, 'endless', `stopped after ${delay} ms`)
    if (typeof outcome === 'object') outcome.kill()
    await eventually('no browser is left', async () => browsers().length === 0).catch((error: unknown) => {
      killGroup(pid)
      throw error
    })
  }
})

t.test('Playwright starts browsers without a second surface for each screenshot', async (t) => {
  const browser = await launchBrowser({ ...settings, launchMilliseconds: 30_000 })
  t.teardown(browser.kill)
  t.notMatch(argumentsOf(browser.pid).join(' '), 'CDPScreenshotNewSurface')
})

// Playwright exposes its implementation only for its own tests (`toImpl`). The runner falls back to slower ways without it, and every capture
// still succeeds. This test fails instead, so that an upgrade of Playwright cannot cost the speed unnoticed (ADR 18, 20 and 24).
t.test('with the installed Playwright', async (t) => {
  const browser: Browser = await chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: process.getuid?.() !== 0 })
  t.teardown(() => browser.close())
  const page: Page = await browser.newPage()
  const session: CDPSession = await page.context().newCDPSession(page)

  t.test('commands use Playwright’s inner session', async (t) => {
    const direct = directly(session)
    t.not(direct, session)
    t.match(await direct.send('Runtime.evaluate', { expression: '6 * 7' }), { result: { value: 42 } })
  })

  t.test('page events come from Playwright’s own session', async (t) => {
    const client = pageSessionOf(page)
    if (!client) return t.fail('the session is not exposed')
    const navigated = new Promise((done) => client.on('Page.frameNavigated', done))
    await page.goto('data:text/html,<title>A page</title>')
    t.match(await navigated, { frame: { url: /^data:/ } })
  })

  t.test('workers are found in Playwright’s sessions', async (t) => {
    const appeared = page.waitForEvent('worker')
    await page.evaluate('new Worker("data:text/javascript,0")')
    await appeared
    t.equal(workerSessionsOf(page)?.size, 1)
  })

  t.test('contexts have their id in DevTools', async (t) => {
    t.match(browserContextIdOf(page.context()), /^[0-9A-F]{32}$/)
  })

  t.test('the browser’s session can have child sessions', async (t) => {
    t.ok(parentOf(await browser.newBrowserCDPSession()))
  })
})
