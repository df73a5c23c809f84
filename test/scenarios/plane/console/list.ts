import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, CDPSession, Page } from 'playwright'
import { complete } from '../../../integration/api-gateway/runner-role.ts'
import { median, p95 } from '../../harness/statistics.ts'
import { bodyOf, send } from '../stage/requests.ts'
import { type ConsoleStage, OPTIONS, openContext } from './console-stage.ts'

// The list of screenshots: its first page, and scrolling when it has many.

/** Pixels per second: about twelve rows, which is fast for reading. */
const SCROLL_SPEED = 3_000
/** Pixels of one way, up and then down again. */
const SCROLL_PIXELS = 15_000
const SCROLL_SECONDS = (2 * SCROLL_PIXELS) / SCROLL_SPEED
const MEBIBYTE = 2 ** 20

/** Scrolling through a list with so many loaded records. */
interface ScrollSample {
  records: number
  /** Milliseconds between two frames. */
  frames: { count: number; p50: number; p95: number; most: number }
  /** Milliseconds of processor time per second of scrolling. Other work on the machine hardly changes them. */
  processor: { renderer: number; gpu: number }
  /** Script heap after garbage collection. */
  heapMebibytes: number
  /** Nodes of the document. */
  nodes: number
}

export interface ListFigures {
  /** Milliseconds from the navigation until all pictures in the window are drawn, with an empty cache. */
  firstPage: number
  samples: readonly ScrollSample[]
}

const IS_DRAWN = `() => {
  const images = [...document.querySelectorAll('.card img')].filter((image) => image.getBoundingClientRect().top < innerHeight)
  return images.length > 3 && images.every((image) => image.complete && image.naturalWidth > 0)
}`

/** Waits in the page until a function returns true. The policy of the console forbids what Playwright's own waiting does. */
const waitInPage = (page: Page, predicate: string): Promise<unknown> =>
  page.evaluate(`(async () => {
    const predicate = ${predicate}
    while (!predicate()) await new Promise(requestAnimationFrame)
  })()`)

/** Opens the list. Returns the milliseconds until the pictures of its first window are drawn. */
async function openList(page: Page, url: string): Promise<number> {
  await page.goto(`${url}/#/screenshots`, { waitUntil: 'commit' })
  await waitInPage(page, IS_DRAWN)
  return page.evaluate<number>('performance.now()')
}

/** Opens the list in a new profile, loads records until there are as many as each step says, and scrolls. */
export async function measureList(stage: ConsoleStage, steps: readonly number[], progress: (line: string) => void): Promise<ListFigures> {
  const context = await openContext(stage)
  const page = await context.newPage()
  const firstPage = await openList(page, stage.gateway.url)
  const session = await context.newCDPSession(page)
  const samples: ScrollSample[] = []
  for (const records of steps) {
    await loadUntil(page, records)
    const before = await readProcessor(stage.browser)
    const frames = await scroll(page, session)
    const after = await readProcessor(stage.browser)
    const perSecond = (type: 'renderer' | 'gpu') => (after[type] - before[type]) / SCROLL_SECONDS
    samples.push({ records, frames, processor: { renderer: perSecond('renderer'), gpu: perSecond('gpu') }, ...(await readMemory(session)) })
    progress(`scrolled with ${records} records`)
  }
  await context.close()
  return { firstPage, samples }
}

/** Scrolls to the end as often as the browser draws. */
const loadUntil = (page: Page, records: number): Promise<unknown> =>
  page.evaluate(`(async () => {
    while (Number([...document.querySelectorAll('.grid li')].at(-1)?.getAttribute('aria-posinset')) < ${records}) {
      scrollTo(0, document.documentElement.scrollHeight)
      await new Promise(requestAnimationFrame)
    }
  })()`)

async function scroll(page: Page, session: CDPSession): Promise<ScrollSample['frames']> {
  await page.evaluate(`(() => {
    window.frameTimes = []
    let before
    const look = (now) => {
      if (before !== undefined) window.frameTimes.push(now - before)
      before = now
      window.frameRequest = requestAnimationFrame(look)
    }
    window.frameRequest = requestAnimationFrame(look)
  })()`)
  for (const yDistance of [SCROLL_PIXELS, -SCROLL_PIXELS])
    await session.send('Input.synthesizeScrollGesture', { x: 700, y: 500, yDistance, speed: SCROLL_SPEED, gestureSourceType: 'mouse' })
  const times = await page.evaluate<number[]>('(cancelAnimationFrame(window.frameRequest), window.frameTimes)')
  return { count: times.length, p50: median(times), p95: p95(times), most: Math.max(...times) }
}

/** Milliseconds of processor time of the browser's processes. */
async function readProcessor(browser: Browser): Promise<Record<'renderer' | 'gpu', number>> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  const sum = (type: string): number =>
    processInfo.filter((one) => one.type.toLowerCase() === type).reduce((total, { cpuTime }) => total + cpuTime * 1_000, 0)
  return { renderer: sum('renderer'), gpu: sum('gpu') }
}

async function readMemory(session: CDPSession): Promise<Pick<ScrollSample, 'heapMebibytes' | 'nodes'>> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  return { heapMebibytes: usedSize / MEBIBYTE, nodes }
}

// A batch of a hundred screenshots while somebody looks at the list.

const COUNT = 100
/** Between two ends of captures, as with a few runners. */
const PAUSE_MILLISECONDS = 100

export interface BatchFigures {
  /** Seconds from the response of POST /screenshots/batch until the list shows all as pending. */
  appeared: number
  /** Seconds from the end of the last capture until every record of the batch is shown with its picture. */
  filled: number
  /** Navigations of the page after the first one. */
  reloads: number
}

/** Counts the cards of the batch with a picture, which the list draws when the window shows them. */
export async function measureBatch(stage: ConsoleStage, progress: (line: string) => void): Promise<BatchFigures> {
  const { gateway, key, plane, thumbnails } = stage
  const context = await openContext(stage)
  const page = await context.newPage()
  // All cards of the batch fit into the window, so that all are drawn.
  await page.setViewportSize({ width: 1_680, height: 4_800 })
  await openList(page, gateway.url)
  let reloads = 0
  page.on('load', () => reloads++)
  const body = {
    urls: Array.from({ length: COUNT }, (_, index) => `https://example.com/batch/${index}`),
    options: {
      thumbnail_width: OPTIONS.thumbnailWidth,
      thumbnail_height: OPTIONS.thumbnailHeight,
      thumbnail_format: OPTIONS.thumbnailFormat,
    },
  }
  const reply = await send(`${gateway.url}/v1/screenshots/batch`, { method: 'POST', key, body })
  const { screenshots } = bodyOf<{ screenshots: { id: string }[] }>(reply, 202)
  const ids = screenshots.map(({ id }) => id)
  const waitForCards = async (selector: string): Promise<number> => {
    const started = performance.now()
    const links = JSON.stringify(ids.map((id) => `#/screenshots/${id}`))
    await waitInPage(page, `() => ${links}.every((link) => document.querySelector('.card[href="' + link + '"] ${selector}'))`)
    return (performance.now() - started) / 1_000
  }
  const appeared = await waitForCards('.badge.pending')
  progress('batch shown as pending')
  for (const [index, id] of ids.entries()) {
    await complete(id, thumbnails[index % thumbnails.length] ?? Buffer.alloc(0), plane, { width: 320, height: 240 })
    await sleep(PAUSE_MILLISECONDS)
  }
  progress('captures of the batch ended')
  const filled = await waitForCards('img')
  await context.close()
  return { appeared, filled, reloads }
}
