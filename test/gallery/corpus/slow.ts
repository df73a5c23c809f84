import { setTimeout as wait } from 'node:timers/promises'
import { type Browser, chromium, type Page as Tab } from 'playwright'
import { captureDefaults } from '../../../crds/src/options/catalog.ts'
import { CHROMIUM } from '../../integration/capture-runner/stage/studio.ts'
import type { Page } from './page.ts'

// Captures with plain Playwright and long waits, which show the page as a reader sees it. They are only used for comparison.

/** The captured part of a page. */
export type Mode = 'window' | 'full'

/** Pause in milliseconds after the load event, and after scrolling by one window. */
const REST = { load: 4_000, window: 500, top: 2_000 }
/** Maximum number of scrolled windows. */
const MAX_WINDOWS = 40
const VIEWPORT = { width: captureDefaults.viewportWidth, height: captureDefaults.viewportHeight }

/** Browser flags of the runner that change pixels. Every host name resolves to loopback, as in the runner. */
const FLAGS = [
  '--disable-gpu',
  '--disable-checker-imaging',
  '--font-render-hinting=none',
  '--disable-font-subpixel-positioning',
  '--hide-scrollbars',
  '--host-resolver-rules=MAP * 127.0.0.1',
]

export const openSlowBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    chromiumSandbox: process.getuid?.() !== 0,
    args: FLAGS,
    env: { ...process.env } as Record<string, string>,
  })

/** Takes both pictures of a page, as PNG. */
export async function captureSlowly(browser: Browser, page: Page, url: string): Promise<Record<Mode, Buffer>> {
  const context = await browser.newContext({ viewport: VIEWPORT, locale: 'en-US' })
  try {
    const tab = await context.newPage()
    await tab.goto(url, { waitUntil: 'load', timeout: 30_000 })
    await wait(REST.load)
    const window = await tab.screenshot()
    await scrollSlowly(tab)
    if (page.hides) await growWindow(tab)
    return { window, full: await tab.screenshot({ fullPage: true, timeout: 60_000 }) }
  } finally {
    await context.close()
  }
}

// The project has no DOM types, so scripts for the page are strings.
const HEIGHT = 'document.documentElement.scrollHeight'
const scrollTo = (top: number): string => `scrollTo({ top: ${top}, behavior: 'instant' })`

async function scrollSlowly(tab: Tab): Promise<void> {
  for (let index = 1; index <= MAX_WINDOWS; index++) {
    await tab.evaluate(scrollTo(index * VIEWPORT.height))
    await wait(REST.window)
    if ((index + 1) * VIEWPORT.height >= (await tab.evaluate<number>(HEIGHT))) break
  }
  await tab.evaluate(scrollTo(1e7))
  await wait(REST.window)
  await tab.evaluate(scrollTo(0))
  await wait(REST.top)
}

/** Generated pages have one element that is as tall as the window. It keeps its height. */
const PIN_HERO = "document.querySelectorAll('.hero').forEach((hero) => { hero.style.height = innerHeight + 'px' })"

async function growWindow(tab: Tab): Promise<void> {
  await tab.evaluate(PIN_HERO)
  await tab.setViewportSize({ width: VIEWPORT.width, height: await tab.evaluate<number>(HEIGHT) })
  await wait(REST.top)
}
