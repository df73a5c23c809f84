import type { FoldedPart, FoldReason, PageFunctions } from '../../../src/page/functions.ts'
import { isInSight, shareOfWindow } from '../shared/boxes.ts'
import { call, read } from '../shared/dom.ts'
import { shownAreasOf } from '../shared/painted.ts'
import { CLIPS, flatElements, hiddenIn } from '../shared/scrolled.ts'
import { allElements, findRoots } from '../shared/tree.ts'
import { findLock, type Lock, mayFill, PLACES } from './locks.ts'
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
  const { blurred, veil } = lock?.cover ? {} : findBlur()
  const panels = findPanels().filter(({ element }) => !large || shareOfWindow(element) < NAMED_SHARE)
  return [
    ...(large ? [large] : []),
    ...(blurred ? [toFolded(blurred, 'blurred')] : []),
    ...(veil ? [{ ...toFolded(veil.element, 'blurring'), part: nameOf(veil.element) + (veil.pseudoElement ?? '') }] : []),
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

const isBlur = (filter: string): boolean =>
  filter !== 'none' && Number.parseFloat(/blur\(([\d.]+)px/.exec(filter)?.[1] ?? '0') >= LEAST_BLUR

/** The part with text that is blurred, or else the layer that blurs text below it. */
function findBlur(): { blurred?: Element | undefined; veil?: Layer | undefined } {
  const blurred: Element[] = []
  const layers: Layer[] = []
  const all = allElements(findRoots(false))
  for (const element of all) {
    const style = getComputedStyle(element)
    if (isBlur(style.filter) && isInSight(element) && [element, ...flatElements(element)].some(hasText)) blurred.push(element)
    if (mayFill(element) && isBlur(style.backdropFilter) && isInSight(element) && shareOfWindow(element) >= FILLING_SHARE)
      layers.push({ element })
  }
  const area = blurred
    .flatMap((element) => shownAreasOf(element))
    .reduce((sum, { left, top, right, bottom }) => sum + (right - left) * (bottom - top), 0)
  if (area >= innerWidth * innerHeight * FILLING_SHARE) return { blurred: blurred[0] }
  const inView = PLACES.flatMap(([x, y]) => document.elementsFromPoint(x * innerWidth, y * innerHeight))
  for (const element of new Set([...all.slice(0, MAX_HOSTS), ...inView]))
    for (const pseudoElement of ['::before', '::after'])
      if (isLayerOf(element, getComputedStyle(element, pseudoElement))) layers.push({ element, pseudoElement })
  return { veil: layers.find(blursText) }
}

/** An element, or a pseudo-element of it. */
interface Layer {
  element: Element
  pseudoElement?: string
}

/** Elements that are asked for their pseudo-elements, besides those in view. */
const MAX_HOSTS = 1_000

/** True for the style of a pseudo-element that blurs half of the window. It has no box that could be asked for. */
function isLayerOf(host: Element, { backdropFilter, content, visibility, opacity, width, height }: CSSStyleDeclaration): boolean {
  if (!isBlur(backdropFilter) || content === 'none' || visibility !== 'visible' || opacity === '0' || !isInSight(host)) return false
  const [wide, tall] = [Math.min(innerWidth, Number.parseFloat(width)), Math.min(innerHeight, Number.parseFloat(height))]
  return wide * tall >= innerWidth * innerHeight * FILLING_SHARE
}

/** True if text is below the layer in the window. A layer that lets the pointer through is found only if it does not. */
function blursText({ element, ...pseudo }: Layer): boolean {
  const solid = call(element, 'animate', { pointerEvents: ['auto', 'auto'] }, { ...pseudo, fill: 'both' })
  solid.pause()
  const isAbove = PLACES.some(([x, y]) => {
    const stack = document.elementsFromPoint(x * innerWidth, y * innerHeight)
    const at = stack.indexOf(element)
    return at >= 0 && stack.slice(at + 1).some((one) => hasText(one) && !call(one, 'matches', 'html, body'))
  })
  solid.cancel()
  return isAbove
}
