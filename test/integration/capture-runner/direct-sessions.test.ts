// Playwright exposes its implementation only for its own tests (`toImpl`). The runner falls back to slower ways without it, and every capture
// still succeeds. This file fails instead, so that an upgrade of Playwright cannot cost the speed unnoticed (ADR 18, 20 and 24).

import { type Browser, type CDPSession, chromium, type Page } from 'playwright'
import t from 'tap'
import { directly, parentOf } from '../../../capture-runner/src/browser/devtools.ts'
import { browserContextIdOf, pageSessionOf, workerSessionsOf } from '../../../capture-runner/src/browser/playwright-internals.ts'
import { CHROMIUM } from './stage/studio.ts'

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
