import type { Tab } from '../browser/tab.ts'
import { pause } from '../runtime/race.ts'

// Scrolls the page while a video is recorded. What scrolls is the window, or else the largest element that scrolls.

/** Milliseconds at each position before the recording, in which the page reacts. */
const REST_MILLISECONDS = 60
/** Share of the window between two positions. */
const STEP = 0.9
/** Time limits for the scroll before the recording, and for images that it made load. */
const MAX_MILLISECONDS = 10_000
const IMAGES_MILLISECONDS = 5_000

interface Extent {
  /** Largest scroll position, in CSS pixels. */
  end: number
  windowHeight: number
}

/**
 * Scrolls through the page once, so that content loads that waits to come into view, and returns to the top.
 * @returns the largest scroll position of the recording, in CSS pixels. A page that grows without end is not scrolled further than here.
 * @throws the signal's reason
 */
export async function scrollThrough(tab: Pick<Tab, 'evaluate'>, signal: AbortSignal): Promise<number> {
  const until = performance.now() + MAX_MILLISECONDS
  let { end, windowHeight } = await tab.evaluate<Extent>(`(${FIND})()`, signal)
  let top = 0
  while (top < end && performance.now() < until) {
    top = Math.min(end, top + Math.max(100, Math.floor(windowHeight * STEP)))
    ;({ end, windowHeight } = await tab.evaluate<Extent>(toScroll(top), signal))
    await pause(REST_MILLISECONDS, signal)
  }
  await awaitImages(tab, signal)
  await tab.evaluate(toScroll(0), signal)
  await pause(REST_MILLISECONDS, signal)
  const last = await tab.evaluate<Extent>(toScroll(0), signal)
  return Math.min(top, last.end)
}

/** Scrolls to a position in CSS pixels. It takes effect with the next frame. */
export const scrollPage = async (tab: Pick<Tab, 'evaluate'>, top: number, signal: AbortSignal): Promise<void> => {
  await tab.evaluate(toScroll(top), signal)
}

async function awaitImages(tab: Pick<Tab, 'evaluate'>, signal: AbortSignal): Promise<void> {
  const until = performance.now() + IMAGES_MILLISECONDS
  while (performance.now() < until && (await tab.evaluate<number>(LOADING, signal)) > 0) await pause(REST_MILLISECONDS, signal)
}

const toScroll = (top: number): string => `(() => {
  const scroller = globalThis.tintypeScroller
  scroller.scrollTo({ top: ${top}, left: 0, behavior: 'instant' })
  return { end: scroller.scrollHeight - scroller.clientHeight, windowHeight: scroller.clientHeight }
})()`

/** Runs in the page. */
const FIND = `() => {
  const root = document.scrollingElement ?? document.documentElement
  const scrolls = (element) => element.scrollHeight > element.clientHeight + 1
  const areaOf = (element) => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    return Math.max(0, Math.min(right, innerWidth) - Math.max(left, 0)) * Math.max(0, Math.min(bottom, innerHeight) - Math.max(top, 0))
  }
  const panels = scrolls(root) ? [] : [...document.querySelectorAll('*')]
    .filter((element) => scrolls(element) && element.clientHeight > 0 && /auto|scroll/.test(getComputedStyle(element).overflowY))
  const largest = panels.map((element) => ({ element, area: areaOf(element) })).sort((a, b) => b.area - a.area)[0]
  const scroller = largest && largest.area > innerWidth * innerHeight / 4 ? largest.element : root
  globalThis.tintypeScroller = scroller
  return { end: scroller.scrollHeight - scroller.clientHeight, windowHeight: scroller.clientHeight }
}`

/** Number of images of the page that have begun to load and are not complete. */
const LOADING = `[...document.images].filter((image) => !image.complete && image.loading !== 'lazy').length`
