import type { FoldedPart, FoldReason, PageFunctions } from '../../../src/page/functions.ts'
import { shareOfWindow } from '../shared/boxes.ts'
import { topAt } from '../shared/closed.ts'
import { call, read } from '../shared/dom.ts'
import { CLIPS, flatElements, hiddenIn } from '../shared/scrolled.ts'
import { containerOf } from '../shared/tree.ts'
import { findLock, type Lock } from './locks.ts'
import { findPanels, isShown } from './panels.ts'
import {
  FILLING_SHARE,
  findClipped,
  findScrollers,
  foreignIn,
  hasPane,
  hasText,
  hiddenAt,
  isPageScrolling,
  NAMED_SHARE,
  nameOf,
  reasonToKeep,
} from './scrollers.ts'

// Names what a full page does not show, or shows blurred.

export const findFolded: PageFunctions['findFolded'] = () => {
  const lock = findLock()
  const large = lock ? toLocked(lock) : isPageScrolling() ? undefined : findLarge()
  const blurred = lock?.cover ? undefined : findBlurred()
  const panels = findPanels().filter(({ element }) => !large || shareOfWindow(element) < NAMED_SHARE)
  return [
    ...(large ? [large] : []),
    ...(blurred ? [toFolded(blurred, 'blurred')] : []),
    ...panels.map(({ element, isRows }) => toFolded(element, isRows ? 'panel-rows' : 'panel')),
  ]
}

const toLocked = ({ element, cover, isSure, whole }: Lock): FoldedPart => ({
  ...toFolded(element, isSure ? 'locked' : 'hiding'),
  height: innerHeight,
  whole,
  ...(cover ? { cover: nameOf(cover) } : {}),
})

/** The part that scrolls instead of the page, or one that clips text. */
function findLarge(): FoldedPart | undefined {
  const [largest, ...others] = findScrollers().filter(({ element, share }) => share >= NAMED_SHARE && isShown(element))
  const clipped = largest ? undefined : findClipped()
  if (!largest) return clipped && toFolded(clipped, 'clipped')
  const reason = reasonToKeep(largest) ?? (hasPane(largest, others) ? 'panes' : 'other')
  // A warning about a smaller part says how much of it is hidden.
  if (largest.share < FILLING_SHARE && /rows|other/.test(reason)) return undefined
  return toFolded(reason === 'frame' ? foreignIn(largest.element) : largest.element, reason)
}

function toFolded(element: Element, reason: FoldReason): FoldedPart {
  const height = read(element, 'clientHeight')
  const hidden = hiddenAt(element) || hiddenIn(element, 'Height', CLIPS)
  return { part: nameOf(element), reason, width: read(element, 'clientWidth'), height, whole: height + Math.min(hidden, 1e9) }
}

/** Places at which blurred text is looked for, as shares of the window. */
const ACROSS = [0.3, 0.5, 0.7]
const LEAST_BLUR = 2

/** The part with text that fills most of the window and is blurred, as pages do below a dialog. */
function findBlurred(): Element | undefined {
  for (const x of ACROSS) {
    for (let element = topAt(x * innerWidth, innerHeight / 2); element; element = containerOf(element)) {
      const blur = Number.parseFloat(/blur\(([\d.]+)px/.exec(getComputedStyle(element).filter)?.[1] ?? '0')
      if (blur < LEAST_BLUR || shareOfWindow(element) < FILLING_SHARE) continue
      if ([element, ...flatElements(element)].some(hasText) && !call(element, 'matches', 'html')) return element
    }
  }
  return undefined
}
