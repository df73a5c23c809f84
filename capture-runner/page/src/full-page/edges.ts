import type { PageFunctions } from '../../../src/page/functions.ts'
import { CLIPS, hiddenIn, isVisible, pageStart } from '../shared/boxes.ts'
import { attributeOf, call, read, setStyle } from '../shared/dom.ts'
import { recall } from '../shared/state.ts'
import { allElements, containerOf, frameDocumentOf } from '../shared/tree.ts'
import { labelOf, NAMED_SHARE } from './scrollers.ts'

// A script may hide what is in the first quarter of the window. In the tall window, that is much of the page. In an unfolded part, what is in its first
// or last quarter may be hidden, wherever it is in the window.

/** Share of the window in which content may be hidden, and the distance of the points at which it is looked for, in CSS pixels. */
const TOP_SHARE = 0.3
const STEP = 100
/** Places from left to right, as shares of the window. */
const ACROSS = [0.25, 0.5, 0.75]

export const hidesTop: PageFunctions['hidesTop'] = () => {
  const share = unfoldedPart() ? 1 : TOP_SHARE
  for (let y = STEP / 2; y < innerHeight * share; y += STEP) {
    if (ACROSS.every((x) => isTransparent(document.elementFromPoint(x * innerWidth, y)))) return true
  }
  return false
}

/** The unfolded part that has its content in the page itself. Observers of a frame have the window of the page. */
function unfoldedPart(): HTMLElement | undefined {
  const { panel } = recall('tintypeUnfolded') ?? {}
  return panel && !frameDocumentOf(panel) ? panel : undefined
}

/** True for an element that flows with the page and cannot be seen. Menus and messages that appear later are above the page. */
function isTransparent(element: Element | null): boolean {
  let isSeen = true
  for (let outer = element ?? undefined; outer; outer = containerOf(outer)) {
    const { opacity, position } = getComputedStyle(outer)
    if (/fixed|sticky|absolute/.test(position)) return false
    if (Number(opacity) < 0.1) isSeen = false
  }
  return !isSeen
}

/** The space around the content of an unfolded part. An animation, because the part gets its own style back when it is canceled. */
const SPACE = 'tintype-space'

export const shiftDown: PageFunctions['shiftDown'] = (pixels) => {
  const part = unfoldedPart()
  if (part) return addSpace(part, pixels)
  if (document.documentElement) setStyle(document.documentElement, { 'margin-top': pixels === 0 ? '' : `${pixels}px` })
}

function addSpace(part: HTMLElement, pixels: number): void {
  for (const animation of call(part, 'getAnimations')) if (animation.id === SPACE) animation.cancel()
  if (pixels === 0) return
  const space = `${pixels}px`
  call(part, 'animate', { paddingTop: [space, space], paddingBottom: [space, space] }, { id: SPACE, fill: 'both' }).pause()
}

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
  return { part: labelOf(widest.element), width, whole: width + widest.hidden }
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
