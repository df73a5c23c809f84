import type { Box, ElementQuery, ElementRegion, PageFunctions } from '../../../src/page/functions.ts'
import { findFirstVisible, findVisible, flatElements, hiddenIn, isBoxless, isVisible, onPage } from '../shared/boxes.ts'
import { boxOf, call, read, setStyle } from '../shared/dom.ts'
import { areaOf, clipOf, cutTo, shownAreasOf } from '../shared/painted.ts'
import { type Area, clipPathOf } from '../shared/shapes.ts'
import { recall } from '../shared/state.ts'
import { findMatches, findRoots, holdersOf, partsOf } from '../shared/tree.ts'

export const findQueried = ({ selector, all }: ElementQuery): Element[] =>
  all ? findVisible(selector) : [findFirstVisible(selector)].filter((element) => element !== undefined)

export const findRegions: PageFunctions['findRegions'] = (query) => findQueried(query).map(regionOf)

function regionOf(element: Element): ElementRegion {
  const area = areaOf(element)
  const own = area && cutTo(area, clipPathOf(element) ?? area)
  if (!own) return { painted: null, own: null, whole: null }
  const painted = cutTo(own, clipOf(element))
  const { width, height } = hiddenBy(element)
  const whole = { ...own, right: own.right + width, bottom: own.bottom + height }
  return { painted: painted ? toBox(painted, element) : null, own: toBox(own, element), whole: toBox(whole, element) }
}

/** A part that scrolls counts if it covers this share of the element. */
const LARGE_SHARE = 0.5

/** Size of what an element, or a large part of it, shows only after scrolling. */
function hiddenBy(element: Element): { width: number; height: number } {
  const { width, height } = boxOf(element)
  const isLargePart = (part: Element) => read(part, 'clientWidth') * read(part, 'clientHeight') >= width * height * LARGE_SHARE
  const parts = [element, ...flatElements(element)].filter((part) => isLargePart(part) && isVisible(part))
  return {
    width: Math.max(0, ...parts.map((part) => hiddenIn(part, 'Width'))),
    height: Math.max(0, ...parts.map((part) => hiddenIn(part, 'Height'))),
  }
}

const toBox = ({ left, top, right, bottom }: Area, element: Element): Box =>
  onPage({ x: left, y: top, width: right - left, height: bottom - top }, element)

/** Uses opacity, because no descendant can undo it. */
export const isolateElements: PageFunctions['isolateElements'] = (query) => {
  const wanted = findQueried(query)
  const holders = new Set(wanted.flatMap((one) => [...holdersOf(one)]))
  for (const holder of holders) {
    const tree = read(holder, 'parentNode')
    if (tree === null || tree.nodeType === Node.DOCUMENT_NODE) continue
    for (const sibling of read(tree as Element, 'children')) {
      const isKept = holders.has(sibling) || wanted.some((one) => call(one, 'contains', sibling))
      if (!isKept) makeClear(sibling)
    }
  }
}

/** Opacity has no effect on an element without a box, but on those in it. */
function makeClear(element: Element): void {
  setStyle(element, { opacity: '0' })
  if (!isBoxless(element)) return
  for (const part of partsOf(element)) if (part.nodeType === Node.ELEMENT_NODE) makeClear(part as Element)
}

export const findIgnoredBoxes: PageFunctions['findIgnoredBoxes'] = (selectors) => {
  const roots = findRoots()
  const boxesOf = (element: Element) => shownAreasOf(element, recall('tintypeSeen')).map((area) => toBox(area, element))
  return selectors.map((selector) => findMatches(selector, roots).flatMap(boxesOf))
}
