import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { launchBrowser } from '../../../capture-runner/src/browser/browser.ts'
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
