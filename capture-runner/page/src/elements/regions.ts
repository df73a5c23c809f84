import type { ElementQuery, PageFunctions } from '../../../src/page/functions.ts'
import { boxesOf, onPage } from '../shared/boxes.ts'
import { findMatches, findVisible } from '../shared/matches.ts'
import { setStyle } from '../shared/style.ts'

const findQueried = ({ selector, all }: ElementQuery): Element[] => findVisible(selector).slice(0, all ? undefined : 1)

export const findRegions: PageFunctions['findRegions'] = (query) =>
  findQueried(query).map((element) => onPage(element.getBoundingClientRect()))

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
