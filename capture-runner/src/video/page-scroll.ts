import type { Tab } from '../browser/tab.ts'
import { callInPage } from '../page/call.ts'
import { pause } from '../runtime/race.ts'

// Scrolls the page while a video is recorded. What scrolls is the window, or else the largest element that scrolls.

/** Milliseconds at each position before the recording, in which the page reacts. */
const REST_MILLISECONDS = 60
/** The same at the top, where bars come back that were hidden during the scroll. */
const TOP_MILLISECONDS = 500
/** Share of the window between two positions. */
const STEP = 0.9
/** Time limits for the scroll before the recording, and for images that it made load. */
const MAX_MILLISECONDS = 10_000
const IMAGES_MILLISECONDS = 5_000

type ScrolledTab = Pick<Tab, 'evaluate' | 'lifecycle'>

/**
 * Scrolls through the page once, so that content loads that waits to come into view, and returns to the top.
 * @returns the largest scroll position of the recording, in CSS pixels. A page that grows without end is not scrolled further than here.
 * @throws the signal's reason
 */
export async function scrollThrough(tab: ScrolledTab, signal: AbortSignal): Promise<number> {
  const until = performance.now() + MAX_MILLISECONDS
  const first = await callInPage({ tab, signal }, 'findScroller')
  if (first.end <= 0) return 0
  let { end, windowHeight } = first
  let top = 0
  while (top < end && performance.now() < until) {
    top = Math.min(end, top + Math.max(100, Math.floor(windowHeight * STEP)))
    await scrollPage(tab, top, signal)
    await pause(REST_MILLISECONDS, signal)
    // What has arrived may make the page taller.
    if (top === end) await awaitImages(tab, signal)
    ;({ end, windowHeight } = await callInPage({ tab, signal }, 'scrollScroller', top))
  }
  if (top < end) await awaitImages(tab, signal)
  await scrollPage(tab, 0, signal)
  await pause(TOP_MILLISECONDS, signal)
  return Math.min(end, Math.max(top, first.end))
}

/** Scrolls to a position in CSS pixels. It takes effect with the next frame. */
export const scrollPage = async (tab: Pick<Tab, 'evaluate'>, top: number, signal: AbortSignal): Promise<void> => {
  await callInPage({ tab, signal }, 'scrollScroller', top)
}

async function awaitImages({ lifecycle }: ScrolledTab, signal: AbortSignal): Promise<void> {
  const until = performance.now() + IMAGES_MILLISECONDS
  while (performance.now() < until && lifecycle.pendingImages.length > 0) await pause(REST_MILLISECONDS, signal)
}
