import type { FoldedPart, FoldReason, PageFunctions } from '../../../src/page/functions.ts'
import { isInSight, shareOfWindow } from '../shared/boxes.ts'
import { call, read } from '../shared/dom.ts'
import { shownAreasOf } from '../shared/painted.ts'
import { CLIPS, flatElements, hiddenIn } from '../shared/scrolled.ts'
import { allElements, findRoots } from '../shared/tree.ts'
import { findLock, type Lock, PLACES } from './locks.ts'
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
  pageHeight,
  reasonToKeep,
} from './scrollers.ts'

// Names what a full page does not show, or shows blurred.

export const findFolded: PageFunctions['findFolded'] = () => {
  const lock = findLock()
  const large = lock ? toLocked(lock) : isPageScrolling() ? undefined : findLarge()
  const blurred = lock?.cover ? undefined : findBlurred()
  const veil = lock?.cover || blurred ? undefined : findVeil()
  const panels = findPanels().filter(({ element }) => !large || shareOfWindow(element) < NAMED_SHARE)
  return [
    ...(large ? [large] : []),
    ...(blurred ? [toFolded(blurred, 'blurred')] : []),
    ...(veil ? [toFolded(veil, 'blurring')] : []),
    ...panels.map(({ element, isRows }) => toFolded(element, isRows ? 'panel-rows' : 'panel')),
  ]
}

/** What is open above the page hides the rest of the page, otherwise the part hides its own. */
function toLocked({ element, cover, isSure, hidden }: Lock): FoldedPart {
  const height = cover ? pageHeight() : Math.min(read(element, 'clientHeight'), pageHeight())
  const part = { ...toFolded(element, isSure ? 'locked' : 'hiding'), height, whole: height + hidden }
  return cover ? { ...part, cover: nameOf(cover) } : part
}

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

const LEAST_BLUR = 2

const isBlur = (filter: string): boolean => Number.parseFloat(/blur\(([\d.]+)px/.exec(filter)?.[1] ?? '0') >= LEAST_BLUR

/** The first part with text that is blurred, as pages do below a dialog, if such parts are as large as half of the window. */
function findBlurred(): Element | undefined {
  const blurred = allElements(findRoots(false)).filter(
    (element) => isBlur(getComputedStyle(element).filter) && isInSight(element) && [element, ...flatElements(element)].some(hasText),
  )
  const area = blurred
    .flatMap((element) => shownAreasOf(element))
    .reduce((sum, { left, top, right, bottom }) => sum + (right - left) * (bottom - top), 0)
  return area >= innerWidth * innerHeight * FILLING_SHARE ? blurred[0] : undefined
}

/** The layer that blurs text below it. */
function findVeil(): Element | undefined {
  for (const [x, y] of PLACES) {
    const stack = document.elementsFromPoint(x * innerWidth, y * innerHeight)
    const at = stack.findIndex((one) => isBlur(getComputedStyle(one).backdropFilter) && shareOfWindow(one) >= FILLING_SHARE)
    if (at >= 0 && stack.slice(at + 1).some((one) => hasText(one) && !call(one, 'matches', 'html, body'))) return stack[at]
  }
  return undefined
}
