import type { PageFunctions } from '../../../src/page/functions.ts'
import { isVisible, pageStart } from '../shared/boxes.ts'
import { read } from '../shared/dom.ts'
import { hiddenIn } from '../shared/scrolled.ts'
import { allElements, findRoots } from '../shared/tree.ts'
import { NAMED_SHARE, nameOf } from './scrollers.ts'

/** A part that covers this share of the window's width belongs to what the page is about. Narrower ones are lists beside it. */
const WIDE_SHARE = 0.5

/** The window takes its overflow from the root element, or from the body if the root element has none. */
export const hidesSides: PageFunctions['hidesSides'] = () => {
  const [root, body] = [document.documentElement, document.body].map((element) =>
    element ? getComputedStyle(element).overflowX : 'visible',
  )
  return /hidden|clip/.test((root === 'visible' ? body : root) ?? '')
}

export const findWiderPart: PageFunctions['findWiderPart'] = () => {
  const isLarge = (element: Element) => {
    const [width, height] = [read(element, 'clientWidth'), read(element, 'clientHeight')]
    return width >= WIDE_SHARE * innerWidth && width * height >= NAMED_SHARE * innerWidth * innerHeight
  }
  const found = allElements(findRoots(false))
    .map((element) => ({ element, hidden: hiddenIn(element, 'Width') }))
    .filter(({ element, hidden }) => hidden > 0 && isLarge(element) && isVisible(element))
  const widest = found.sort((one, other) => other.hidden - one.hidden)[0]
  if (!widest) return null
  const width = read(widest.element, 'clientWidth')
  return { part: nameOf(widest.element), width, whole: width + widest.hidden }
}

export const readStart: PageFunctions['readStart'] = () => pageStart()
