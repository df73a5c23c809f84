/**
 * What an engineer would write who needs pictures of pages and nothing else: playwright-core, one browser kept open, a fresh context for
 * each capture, `goto`, one raw DevTools screenshot. It runs in a pod made from the runner's image and takes its orders, one JSON object a
 * line, on standard input; so it must not import anything of ours.
 */
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, chromium as Chromium, Page } from 'playwright-core'

/** One order: `count` captures of each page in turns, by as many browsers side by side. */
export interface LoopOrder {
  pages: readonly string[]
  count: number
  browsers: number
  /** `raw`: one DevTools command; `library`: page.screenshot(). */
  way: 'raw' | 'library'
  viewport: { width: number; height: number }
  /** Wanted are the pictures, in base64: one of each page. */
  pictures: boolean
}

/** What it took: of each page the milliseconds of each capture; of all together the milliseconds from the first to the last. */
export interface LoopAnswer {
  milliseconds: Record<string, number[]>
  totalMilliseconds: number
  pictures: Record<string, string>
  /** Screenshots that Chromium refused ("Unable to capture screenshot") and that were taken again, as part of their capture's time. */
  repeated: number
}

const { chromium } = createRequire('/app/main.mjs')('playwright-core') as { chromium: typeof Chromium }

/** Those of the runner's flags that change what a picture costs or looks like; the others close ways out that nobody uses here. */
const FLAGS = ['--disable-gpu', '--disable-checker-imaging', '--font-render-hinting=none', '--block-new-web-contents']

const MAX_TRIES = 5
const REPEAT_MILLISECONDS = 50

const browsers: Browser[] = []
let repeated = 0

async function launch(count: number): Promise<void> {
  while (browsers.length < count) {
    browsers.push(
      await chromium.launch({
        executablePath: '/usr/lib/chromium/chromium-headless-shell',
        chromiumSandbox: process.env.BARE_SANDBOX === 'true',
        args: FLAGS,
      }),
    )
  }
  for (const browser of browsers.splice(count)) await browser.close()
}

async function take(page: Page, context: BrowserContext, way: LoopOrder['way']): Promise<Buffer> {
  if (way === 'library') return page.screenshot()
  const session = await context.newCDPSession(page)
  for (let tries = 1; ; tries++) {
    try {
      const { data } = await session.send('Page.captureScreenshot', { format: 'png', optimizeForSpeed: true })
      return Buffer.from(data, 'base64')
    } catch (error) {
      if (tries === MAX_TRIES) throw error
      repeated++
      await sleep(REPEAT_MILLISECONDS)
      await session.send('Page.getLayoutMetrics')
    }
  }
}

async function captureOnce(browser: Browser, url: string, { viewport, way }: LoopOrder) {
  const started = performance.now()
  const context = await browser.newContext({ viewport })
  const page = await context.newPage()
  await page.goto(url, { waitUntil: 'load' })
  const picture = await take(page, context, way)
  const milliseconds = performance.now() - started
  // Not counted: the picture is there.
  await context.close()
  return { milliseconds, picture }
}

async function carryOut(order: LoopOrder): Promise<LoopAnswer> {
  await launch(order.browsers)
  const milliseconds: Record<string, number[]> = Object.fromEntries(order.pages.map((url) => [url, []]))
  const pictures: Record<string, string> = {}
  const todo = Array.from({ length: order.count }, () => order.pages).flat()
  repeated = 0
  const started = performance.now()
  const work = async (browser: Browser): Promise<void> => {
    for (let url = todo.shift(); url !== undefined; url = todo.shift()) {
      const { milliseconds: taken, picture } = await captureOnce(browser, url, order)
      milliseconds[url]?.push(taken)
      if (order.pictures) pictures[url] ??= picture.toString('base64')
    }
  }
  await Promise.all(browsers.map(work))
  return { milliseconds, totalMilliseconds: performance.now() - started, pictures, repeated }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await carryOut(JSON.parse(line) as LoopOrder).catch((error: unknown) => ({ error: String(error) }))
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
// Its orders have ended, and so does it.
await launch(0)
