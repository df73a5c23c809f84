/**
 * A minimal capture program as the baseline: playwright-core, one browser that stays open, a new context per capture, `goto`, and one raw
 * DevTools screenshot. It runs in a pod of the runner's image, so it imports nothing from this repository. Commands arrive on standard
 * input, one JSON object per line.
 */
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, chromium as Chromium, Page } from 'playwright'

/** A command: `count` captures of each page in rotation, with the given number of concurrent browsers. */
export interface LoopOrder {
  pages: readonly string[]
  count: number
  browsers: number
  /** `raw`: one DevTools command; `library`: page.screenshot(); `reference`: page.screenshot() when the network is idle. */
  way: 'raw' | 'library' | 'reference'
  viewport: { width: number; height: number }
  /** True to return one picture of each page in base64. They are encoded after the measurement. */
  pictures: boolean
}

/** Milliseconds of each capture by page, and milliseconds from the first to the last capture. */
export interface LoopResult {
  milliseconds: Record<string, number[]>
  totalMilliseconds: number
  pictures: Record<string, string>
  /** Screenshots that Chromium rejected ("Unable to capture screenshot") and that were repeated. The repetition counts as time of the capture. */
  repeated: number
}

/** Paths of library and browser, for runs outside a pod. */
const { BARE_MODULES = '/app/main.mjs', BARE_CHROMIUM = '/usr/lib/chromium/chromium-headless-shell', BARE_SANDBOX } = process.env

// The image contains only the core: the bundle contains the entry of the package playwright, which re-exports it.
const { chromium } = createRequire(BARE_MODULES)('playwright-core') as { chromium: typeof Chromium }

/** The runner's flags that affect cost or pixels. The others restrict network access, which does not matter here. */
const FLAGS = [
  '--disable-gpu',
  '--disable-checker-imaging',
  '--font-render-hinting=none',
  '--disable-font-subpixel-positioning',
  '--block-new-web-contents',
]

const MAX_TRIES = 5
const REPEAT_MILLISECONDS = 50

const browsers: Browser[] = []
let repeated = 0

/** Keeps surplus browsers, so that they are warm for the next command. */
async function launch(count: number): Promise<void> {
  while (browsers.length < count) {
    browsers.push(
      await chromium.launch({
        executablePath: BARE_CHROMIUM,
        chromiumSandbox: BARE_SANDBOX === 'true',
        args: FLAGS,
      }),
    )
  }
}

async function take(page: Page, context: BrowserContext, way: LoopOrder['way']): Promise<Buffer> {
  if (way !== 'raw') return page.screenshot()
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
  await page.goto(url, { waitUntil: way === 'reference' ? 'networkidle' : 'load' })
  const picture = await take(page, context, way)
  const milliseconds = performance.now() - started
  // Not measured, because the picture is complete.
  await context.close()
  return { milliseconds, picture }
}

async function carryOut(order: LoopOrder): Promise<LoopResult> {
  await launch(order.browsers)
  const milliseconds: Record<string, number[]> = Object.fromEntries(order.pages.map((url) => [url, []]))
  const taken = new Map<string, Buffer>()
  const todo = Array.from({ length: order.count }, () => order.pages).flat()
  repeated = 0
  const started = performance.now()
  const work = async (browser: Browser): Promise<void> => {
    for (let url = todo.shift(); url !== undefined; url = todo.shift()) {
      const captured = await captureOnce(browser, url, order)
      milliseconds[url]?.push(captured.milliseconds)
      if (order.pictures && !taken.has(url)) taken.set(url, captured.picture)
    }
  }
  await Promise.all(browsers.slice(0, order.browsers).map(work))
  const totalMilliseconds = performance.now() - started
  const pictures = Object.fromEntries([...taken].map(([url, picture]) => [url, picture.toString('base64')]))
  return { milliseconds, totalMilliseconds, pictures, repeated }
}

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await carryOut(JSON.parse(line) as LoopOrder).catch((error: unknown) => ({ error: String(error) }))
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
// Exits at the end of its input.
for (const browser of browsers) await browser.close()
