import type { ElementQuery, ElementRegion, PageFunctions } from '../../../src/page/functions.ts'
import { boxesOf, onPage } from '../shared/boxes.ts'
import { findMatches, findVisible } from '../shared/matches.ts'
import { type Area, boxAround, clipOf, clipPathOf, cutTo, isLarge, paintedBoxesOf } from '../shared/painted.ts'
import { setStyle } from '../shared/style.ts'

const findQueried = ({ selector, all }: ElementQuery): Element[] => findVisible(selector).slice(0, all ? undefined : 1)

export const findRegions: PageFunctions['findRegions'] = (query) => findQueried(query).map(regionOf)

function regionOf(element: Element): ElementRegion {
  const area = areaOf(element)
  const whole = area && cutTo(area, clipPathOf(element) ?? area)
  if (!whole) return { painted: null, whole: null }
  const painted = cutTo(whole, clipOf(element))
  return { painted: painted ? toBox(painted) : null, whole: toBox(whole) }
}

/** The area of an element: its box, or that of its content if it has none or flows with text. */
function areaOf(element: Element): Area | undefined {
  const own = element.getBoundingClientRect()
  const isPlain = isLarge(own) && getComputedStyle(element).display !== 'inline'
  return isPlain ? own : boxAround([...[own].filter(isLarge), ...paintedBoxesOf(element)])
}

const toBox = ({ left, top, right, bottom }: Area) => onPage({ x: left, y: top, width: right - left, height: bottom - top })

/** Uses opacity, because no descendant can undo it. */
export const isolateElements: PageFunctions['isolateElements'] = (query) => {
  const wanted = findQueried(query)
  const isKept = (element: Element) => wanted.some((one) => one.contains(element) || element.contains(one))
  for (const one of wanted) {
    for (let holder: Element | null = one; holder && holder !== document.documentElement; holder = holder.parentElement) {
      for (const sibling of holder.parentElement?.children ?? []) {
        if (!isKept(sibling)) setStyle(sibling, { opacity: '0' })
      }
    }
  }
}

export const findIgnoredBoxes: PageFunctions['findIgnoredBoxes'] = (selectors) =>
  selectors.map((selector) =>
    findMatches(selector)
      .flatMap(boxesOf)
      .filter(({ width, height }) => width > 0 && height > 0)
      .map(onPage),
  )
