import type { PageFunctions } from '../../../src/page/functions.ts'
import { call, setStyle } from '../shared/dom.ts'
import { recall } from '../shared/state.ts'
import { containerOf, frameDocumentOf } from '../shared/tree.ts'

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
