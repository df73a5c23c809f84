import { setTimeout } from 'node:timers/promises'
import { findDevice } from '@tintype/crds/options/page/browser'
import pino from 'pino'
import t from 'tap'
import type { RunningBrowser } from '../../../../capture-runner/src/browser/browser.ts'
import { Browsers, FrameTrust } from '../../../../capture-runner/src/browser/browsers.ts'
import { buildUserAgent, userAgentOf } from '../../../../capture-runner/src/browser/emulation.ts'
import { RealSpeed } from '../../../../capture-runner/src/browser/frame-clock.ts'
import { siteOf } from '../../../../capture-runner/src/browser/site.ts'
import type { Tab } from '../../../../capture-runner/src/browser/tab.ts'
import { DEFAULT_CONTEXT } from '../../../../capture-runner/src/plan/plan.ts'
import { eventually } from '../../../support/eventually.ts'

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

const pass = (trust: FrameTrust, captures: number) => {
  for (let n = 0; n < captures; n++) trust.noteCapture()
}

t.test('an account whose frames hang three times within a hundred captures is not trusted until they are past', async (t) => {
  const trust = new FrameTrust()
  pass(trust, 10)
  t.notOk(trust.noteHang('acme'))
  pass(trust, 50)
  t.notOk(trust.noteHang('acme'))
  t.ok(trust.isTrusted('acme'))
  pass(trust, 49)
  t.ok(trust.noteHang('acme'), 'the third one ends its trust')
  t.notOk(trust.noteHang('acme'), 'the fourth one changes nothing')
  t.notOk(trust.isTrusted('acme'))
  t.ok(trust.isTrusted('other'), 'others keep theirs')
  pass(trust, 50)
  t.notOk(trust.isTrusted('acme'))
  pass(trust, 1)
  t.ok(trust.isTrusted('acme'), 'the second one is a hundred captures old')
})

t.test('hangs further apart are forgotten', async (t) => {
  const trust = new FrameTrust()
  for (let n = 0; n < 5; n++) {
    pass(trust, 50)
    t.notOk(trust.noteHang('acme'))
  }
  t.ok(trust.isTrusted('acme'))
})

t.test('RealSpeed advances by the time that has passed until it is stopped', async (t) => {
  const advances: number[] = []
  const speed = new RealSpeed(async (milliseconds) => advances.push(milliseconds))
  const { signal } = new AbortController()
  speed.start(signal)
  speed.start(signal)
  t.ok(speed.isRunning)
  await eventually('it has advanced three times', async () => advances.length >= 3)
  await speed.stop()
  t.notOk(speed.isRunning)
  const { length } = advances
  await setTimeout(50)
  t.equal(advances.length, length)
  t.ok(advances.every((milliseconds) => milliseconds > 0 && milliseconds <= 200))
})

t.test('RealSpeed ends with its signal, and when an advance fails', async (t) => {
  const stop = new AbortController()
  const speed = new RealSpeed(async () => {})
  speed.start(stop.signal)
  stop.abort(new Error('over'))
  await speed.stop()
  const failing = new RealSpeed(() => Promise.reject(new Error('the tab is gone')))
  failing.start(new AbortController().signal)
  await failing.stop()
  t.notOk(failing.isRunning)
})

const VERSION = '157.1.2.3'

t.test('userAgentOf is the browser’s own without Headless', async (t) => {
  t.match(userAgentOf(VERSION), /^Mozilla\/5\.0 \(X11; Linux x86_64\) .* Chrome\/157\.0\.0\.0 Safari/)
})

t.test('a device’s Chrome has this browser’s version, in the header and in client hints', async (t) => {
  const pixel = findDevice('Pixel 9')
  const { userAgent, userAgentMetadata } = buildUserAgent(VERSION, pixel)
  t.match(userAgent, /Android .*Chrome\/157\.0\.0\.0 Mobile/)
  t.match(userAgentMetadata, { platform: 'Android', model: 'Pixel 9', mobile: true, brands: [{}, { brand: 'Chromium', version: '157' }] })
})

t.test('a device with another browser keeps its user agent and sends no hints', async (t) => {
  const iphone = findDevice('iPhone 15 Pro')
  t.strictSame(buildUserAgent(VERSION, iphone), { userAgent: iphone?.userAgent, platform: 'iPhone' })
})

t.test('a client’s platform appears in navigator and in client hints', async (t) => {
  for (const [platform, hinted] of [
    ['Win64', 'Windows'],
    ['MacIntel', 'macOS'],
    ['iPhone', 'iOS'],
    ['Linux armv8l', 'Android'],
    ['Linux x86_64', 'Linux'],
    ['FreeBSD amd64', 'FreeBSD amd64'],
  ]) {
    t.match(buildUserAgent(VERSION, { mobile: false, touch: false, platform: platform ?? '' }), {
      platform,
      userAgentMetadata: { platform: hinted },
    })
  }
})

t.test('siteOf returns the registrable domain, or else the host', async (t) => {
  for (const [url, site] of [
    ['https://www.example.com:8443/a', 'example.com'],
    ['https://a.b.example.co.uk', 'example.co.uk'],
    ['https://ada.github.io', 'ada.github.io'],
    ['http://127.0.0.1:80', '127.0.0.1'],
    ['http://[::1]/', '[::1]'],
    ['http://intranet/', 'intranet'],
    ['null', ''],
    ['', ''],
  ] as const)
    t.equal(siteOf(url), site, url)
})
