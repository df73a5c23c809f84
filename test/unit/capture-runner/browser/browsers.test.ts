import pino from 'pino'
import t from 'tap'
import type { RunningBrowser } from '../../../../capture-runner/src/browser/browser.ts'
import { Browsers } from '../../../../capture-runner/src/browser/browsers.ts'
import type { Tab } from '../../../../capture-runner/src/browser/tab.ts'
import { DEFAULT_CONTEXT } from '../../../../capture-runner/src/plan/plan.ts'

const TAB = { ended: new AbortController().signal, close: async () => {}, egress: { close: () => {} } } as unknown as Tab

/** A browser that opens no tab with frame control. */
function fakeBrowser(): RunningBrowser {
  let isRunning = true
  const listeners: (() => void)[] = []
  return {
    pid: 1,
    version: '156.0',
    isConnected: () => isRunning,
    onDisconnected: (listener) => void listeners.push(listener),
    openTab: async ({ frameControl }) => {
      if (frameControl) throw new Error('it draws no frame on command')
      return TAB
    },
    kill: () => {
      if (!isRunning) return
      isRunning = false
      for (const listener of listeners) listener()
    },
  }
}

t.test('a runner whose browsers draw no frame on command lends tabs that draw by themselves', async (t) => {
  let launched = 0
  const launch = async () => {
    launched++
    return fakeBrowser()
  }
  const browsers = new Browsers({ launch, isolation: 'context', log: pino({ level: 'silent' }), hasFrameControl: true })
  t.teardown(() => browsers.stop())
  await browsers.start()
  t.notOk(browsers.beginsFrames('acme'))
  const { tab } = await browsers.lend('acme', DEFAULT_CONTEXT, AbortSignal.timeout(5_000))
  t.equal(tab, TAB)
  t.ok(launched >= 3, 'the browsers with such tabs were replaced')
})
