import type { PageFunctions, ScrollerExtent } from '../../src/page/functions.ts'
import { findScrollers, hiddenAt, hiddenByRoot, isPageScrolling, partsOfFrame, ROOT_SHARE } from './full-page/scrollers.ts'
import { read, scrollingElement, setStyle } from './shared/dom.ts'
import { recall, remember } from './shared/state.ts'
import { findMatches, frameDocumentOf } from './shared/tree.ts'

/** Share of the window that a part must cover to be scrolled. */
const LARGE_SHARE = 0.25

const extentOf = (scroller: Element | undefined): ScrollerExtent =>
  scroller
    ? { end: read(scroller, 'scrollHeight') - read(scroller, 'clientHeight'), windowHeight: read(scroller, 'clientHeight') }
    : { end: 0, windowHeight: innerHeight }

/** The window, or else the largest part that scrolls. */
export const findScroller: PageFunctions['findScroller'] = () => {
  const scroller = (isPageScrolling() ? undefined : findLargePart()) ?? scrollingElement()
  return extentOf(scroller && remember('tintypeScroller', scroller))
}

/** A part that scrolls by a border only is a box around others. */
function findLargePart(): Element | undefined {
  const large = findScrollers().filter(
    ({ share, hidden }) => share > LARGE_SHARE && hidden > hiddenByRoot() && hidden < Number.POSITIVE_INFINITY,
  )
  const part = large.find(({ hidden }) => hidden > innerHeight * ROOT_SHARE) ?? large[0]
  return part && scrollerIn(part.element)
}

/** What scrolls in a part, which may be a frame. */
function scrollerIn(part: Element): Element {
  const inner = frameDocumentOf(part)
  if (!inner) return part
  const root = inner.scrollingElement ?? inner.documentElement
  if (root.scrollHeight > root.clientHeight + 1) return root
  const [largest] = partsOfFrame(inner).sort((a, b) => hiddenAt(b) - hiddenAt(a))
  return largest ? scrollerIn(largest) : root
}

export const scrollScroller: PageFunctions['scrollScroller'] = (top) => {
  const scroller = recall('tintypeScroller') ?? scrollingElement()
  if (scroller) scrollInstantly(scroller, top)
  return extentOf(scroller)
}

/** Regardless of the page's scroll-behavior. */
function scrollInstantly(element: Element, top: number): void {
  // A page that snaps would jump from section to section.
  for (const snapping of [element, read(element, 'ownerDocument').documentElement]) setStyle(snapping, { 'scroll-snap-type': 'none' })
  const scrollTo: (options: ScrollToOptions) => void = read(element, 'scrollTo')
  scrollTo.call(element, { top, left: 0, behavior: 'instant' })
}

/** The sound of a video would run on the real clock, and its pictures follow the sound. */
export const muteMedia: PageFunctions['muteMedia'] = () => {
  const mute = ({ target }: Event) => {
    if (target instanceof HTMLMediaElement) target.muted = true
  }
  addEventListener('play', mute, true)
}

export const hasPlayingSound: PageFunctions['hasPlayingSound'] = () => (findMatches('video') as HTMLVideoElement[]).some(isAudible)

const isAudible = (video: HTMLVideoElement): boolean =>
  !video.paused && ((video as { webkitAudioDecodedByteCount?: number }).webkitAudioDecodedByteCount ?? 0) > 0
