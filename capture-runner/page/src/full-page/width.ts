import type { PageFunctions } from '../../../src/page/functions.ts'
import { isVisible, pageStart } from '../shared/boxes.ts'
import { attributeOf, read } from '../shared/dom.ts'
import { CLIPS, hiddenIn } from '../shared/scrolled.ts'
import { allElements, frameDocumentOf } from '../shared/tree.ts'
import { NAMED_SHARE, nameOf } from './scrollers.ts'

/** A part that covers this share of the window's width belongs to what the page is about. Narrower ones are lists beside it. */
const WIDE_SHARE = 0.5

/** The window takes its overflow from the root element, or from the body if the root element has none. */
export const hidesSides: PageFunctions['hidesSides'] = () => isCutOff(document)

function isCutOff({ documentElement, body }: Document): boolean {
  const [root, inner] = [documentElement, body].map((element) => (element ? getComputedStyle(element).overflowX : 'visible'))
  return CLIPS.test((root === 'visible' ? inner : root) ?? '')
}

export const findWiderPart: PageFunctions['findWiderPart'] = () => {
  const isLarge = (element: Element) => {
    const [width, height] = [read(element, 'clientWidth'), read(element, 'clientHeight')]
    return width >= WIDE_SHARE * innerWidth && width * height >= NAMED_SHARE * innerWidth * innerHeight
  }
  const found = allElements()
    .map((element) => ({ element, hidden: hiddenBeside(element) }))
    .filter(({ element, hidden }) => hidden > 0 && isLarge(element) && isVisible(element))
  const widest = found.sort((one, other) => other.hidden - one.hidden)[0]
  if (!widest) return null
  const width = read(widest.element, 'clientWidth')
  return { part: nameOf(widest.element), width, whole: width + widest.hidden }
}

/** Width of the content of an element, or of a frame's document, that is not in view. */
function hiddenBeside(element: Element): number {
  const inner = frameDocumentOf(element)
  const root = inner?.scrollingElement
  if (!root || isCutOff(inner) || attributeOf(element, 'scrolling') === 'no') return hiddenIn(element, 'Width')
  const hidden = root.scrollWidth - read(element, 'clientWidth')
  return hidden > 1 ? hidden : 0
}

export const readStart: PageFunctions['readStart'] = () => pageStart()
