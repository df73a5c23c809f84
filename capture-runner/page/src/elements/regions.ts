import type { Box, ElementQuery, ElementRegion, PageFunctions } from '../../../src/page/functions.ts'
import { onPage, pageBoxesOf } from '../shared/boxes.ts'
import { boxOf, call, read, setStyle } from '../shared/dom.ts'
import { type Area, boxAround, clipOf, clipPathOf, cutTo, isLarge, paintedBoxesOf } from '../shared/painted.ts'
import { findFirstVisible, findMatches, findRoots, findVisible } from '../shared/tree.ts'

const findQueried = ({ selector, all }: ElementQuery): Element[] =>
  all ? findVisible(selector) : [findFirstVisible(selector)].filter((element) => element !== undefined)

export const findRegions: PageFunctions['findRegions'] = (query) => findQueried(query).map(regionOf)

function regionOf(element: Element): ElementRegion {
  const area = areaOf(element)
  const whole = area && cutTo(area, clipPathOf(element) ?? area)
  if (!whole) return { painted: null, whole: null }
  const painted = cutTo(whole, clipOf(element))
  return { painted: painted ? toBox(painted, element) : null, whole: toBox(whole, element) }
}

/** The area of an element: its box, or that of its content if it has none or flows with text. */
function areaOf(element: Element): Area | undefined {
  const own = boxOf(element)
  const isPlain = isLarge(own) && getComputedStyle(element).display !== 'inline'
  return isPlain ? own : boxAround([...[own].filter(isLarge), ...paintedBoxesOf(element)])
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
      if (!isKept) setStyle(sibling, { opacity: '0' })
    }
  }
}

/** The element and all that contain it, also the hosts of its shadow roots and the elements of its frames. */
function* holdersOf(element: Element): Generator<Element> {
  for (let node: Node | null = element; node; node = holderOf(node))
    if (node instanceof Element || 'localName' in node) yield node as Element
}

function holderOf(node: Node): Node | null {
  if (node.nodeType === Node.DOCUMENT_NODE) return (node as Document).defaultView?.frameElement ?? null
  return read(node, 'parentNode') ?? (node as Partial<ShadowRoot>).host ?? null
}

export const findIgnoredBoxes: PageFunctions['findIgnoredBoxes'] = (selectors) => {
  const roots = findRoots()
  return selectors.map((selector) =>
    findMatches(selector, roots)
      .flatMap(pageBoxesOf)
      .filter(({ width, height }) => width > 0 && height > 0),
  )
}
