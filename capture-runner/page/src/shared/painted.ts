// What an element paints, which may differ from its box: a box without height can have tall content, a box as large as the window may paint nothing,
// and boxes around an element may hide a part of it.

import { boxesOfText, ownBoxesOf, pageStart, scaleOf } from './boxes.ts'
import { boxOf, call, isHtml, nameOf, queryAll, read } from './dom.ts'
import { type Area, boxAround, clipPathOf, isDrawn, mapArea } from './shapes.ts'
import { containerOf, partsOf } from './tree.ts'

export const isLarge = ({ left, top, right, bottom }: Area): boolean => right - left > 0 && bottom - top > 0

/** The common part of two areas; undefined if there is none. */
export function cutTo(area: Area, clip: Area): Area | undefined {
  const common = {
    left: Math.max(area.left, clip.left),
    top: Math.max(area.top, clip.top),
    right: Math.min(area.right, clip.right),
    bottom: Math.min(area.bottom, clip.bottom),
  }
  return isLarge(common) ? common : undefined
}

/** All of the page. What is left of it or above it can never be seen. */
const pageArea = (): Area => ({
  left: -pageStart() - scrollX,
  top: -scrollY,
  right: Number.MAX_SAFE_INTEGER,
  bottom: Number.MAX_SAFE_INTEGER,
})

/** The area that the boxes around an element leave visible. May be empty. */
export function clipOf(element: Element): Area {
  let clip = pageArea()
  for (const [holder, isContaining] of holdersOf(element)) {
    const overflow = isContaining ? overflowAreaOf(holder) : undefined
    if (overflow) clip = cutTo(clip, overflow) ?? NOTHING
    const path = clipPathOf(holder)
    if (path) clip = cutTo(clip, path) ?? NOTHING
  }
  return clip
}

const NOTHING: Area = { left: 0, top: 0, right: 0, bottom: 0 }

/** The elements around an element, innermost first, and whether each one's overflow applies to it: a positioned element ignores boxes up to its containing block. */
function* holdersOf(element: Element): Generator<[holder: Element, isContaining: boolean]> {
  let block = containingBlockOf(element)
  for (let holder = containerOf(element); holder; holder = containerOf(holder)) {
    if (holder === block) block = undefined
    const isContaining = block === undefined
    yield [holder, isContaining]
    if (isContaining) block = containingBlockOf(holder)
  }
}

/** The containing block of a positioned element; undefined: its parent; null: the window. */
function containingBlockOf(element: Element): Element | null | undefined {
  const { position } = getComputedStyle(element)
  return isHtml(element) && /absolute|fixed/.test(position) ? read(element, 'offsetParent') : undefined
}

/** The area to which an element cuts its content. The overflow of the root element, or else of the body, is that of the window, which shows all. */
export function overflowAreaOf(element: Element): Area | undefined {
  const { overflowX, overflowY, overflow, display, contain } = getComputedStyle(element)
  const isCut = (value: string) => value !== 'visible'
  const isPainted = /paint|strict|content/.test(contain)
  // A drawing in a line of text cuts its content, other than text.
  const isDrawing = nameOf(element) === 'svg' && !isHtml(element)
  const { documentElement, body } = read(element, 'ownerDocument')
  if (element === documentElement || (display === 'inline' && !isDrawing) || display === 'contents') return undefined
  const outer = isDrawing ? read(element as Element as SVGSVGElement, 'ownerSVGElement') : null
  if (outer) return overflow === 'visible' ? undefined : innerDrawingOf(element as Element as SVGSVGElement)
  const isOfWindow = element === body && getComputedStyle(documentElement).overflow === 'visible'
  if (isOfWindow || (overflow === 'visible' && !isPainted)) return undefined
  const box = boxOf(element)
  const isX = isCut(overflowX) || isPainted
  const isY = isCut(overflowY) || isPainted
  // Borders and scroll bars are outside. Transforms scale them.
  const [scaleX, scaleY] = scaleOf(element)
  const left = box.left + read(element, 'clientLeft') * scaleX
  const top = box.top + read(element, 'clientTop') * scaleY
  const everywhere = Number.MAX_SAFE_INTEGER
  return {
    left: isX ? left : -everywhere,
    right: isX ? left + read(element, 'clientWidth') * scaleX : everywhere,
    top: isY ? top : -everywhere,
    bottom: isY ? top + read(element, 'clientHeight') * scaleY : everywhere,
  }
}

/** The area of a drawing in a drawing, whose size is in coordinates of the outer one. */
function innerDrawingOf(drawing: SVGSVGElement): Area | undefined {
  const matrix = call(read(drawing, 'parentNode') as SVGGraphicsElement, 'getScreenCTM')
  const [x, y, width, height] = (['x', 'y', 'width', 'height'] as const).map((name) => read(drawing, name).baseVal.value)
  return matrix ? mapArea(new DOMRect(x, y, width, height), DOMMatrix.fromMatrix(matrix)) : undefined
}

/** Elements that show something without text or other elements in them. */
const REPLACED = /^(img|video|audio|canvas|iframe|object|embed|input|textarea|select|button|meter|progress|svg|hr)$/

export const isReplaced = (element: Element): boolean => REPLACED.test(nameOf(element))

/**
 * The areas that an element and its content paint.
 * @param seen the elements that are in sight, for content that was hidden since; absent: as their styles say
 */
export function* paintedBoxesOf(element: Element, clip: Area = pageArea(), seen?: WeakSet<Node>): Generator<Area> {
  const style = getComputedStyle(element)
  if (style.display === 'none' || (!seen && style.opacity === '0')) return
  const path = clipPathOf(element)
  const own = path ? cutTo(clip, path) : clip
  if (!own) return
  const shown = (boxes: Iterable<Area>, within: Area) => [...boxes].map((box) => cutTo(box, within)).filter((box) => box !== undefined)
  const isShown = seen ? seen.has(element) : style.visibility === 'visible'
  if (isShown && (isReplaced(element) || paintsItself(style))) yield* shown(call(element, 'getClientRects'), own)
  const overflow = overflowAreaOf(element)
  const inner = overflow ? cutTo(own, overflow) : own
  if (!inner) return
  for (const node of partsOf(element)) {
    if (node.nodeType === Node.ELEMENT_NODE) yield* paintedBoxesOf(node as Element, inner, seen)
    else if (node.nodeType === Node.TEXT_NODE && isShown && node.textContent?.trim() !== '') yield* shown(boxesOfText(node), inner)
  }
}

/** The area of a part of a drawing with its strokes, which boxes of drawings leave out. */
function strokedAreaOf(drawing: Element): Area {
  const areas = [drawing, ...queryAll(drawing, '*')].filter(isDrawn).map((part) => {
    const { left, top, right, bottom } = boxOf(part)
    const { stroke, strokeWidth } = getComputedStyle(part)
    const { a = 1, b = 0 } = call(part, 'getScreenCTM') ?? {}
    // What is not rendered has an empty box.
    const half = stroke === 'none' || right + bottom === left + top ? 0 : (Number.parseFloat(strokeWidth) / 2) * Math.hypot(a, b)
    return { left: left - half, top: top - half, right: right + half, bottom: bottom + half }
  })
  return boxAround(areas.filter(isLarge)) ?? boxOf(drawing)
}

/** The area of an element: its box, or that of its content if it has none or flows with text. */
export function areaOf(element: Element): Area | undefined {
  const own = isDrawn(element) ? strokedAreaOf(element) : boxOf(element)
  const { display, contentVisibility } = getComputedStyle(element)
  // The small letters of `ruby` are outside of its box.
  const isPlain = isLarge(own) && !/^(inline|ruby)$/.test(display) && contentVisibility !== 'hidden'
  return isPlain ? own : boxAround([...[own].filter((box) => isLarge(box) && contentVisibility !== 'hidden'), ...paintedBoxesOf(element)])
}

/**
 * The boxes of an element, or those of what it shows if they are empty, as far as the boxes around it leave them visible.
 * @param seen the elements that are in sight, for content that was hidden since
 */
export function shownAreasOf(element: Element, seen?: WeakSet<Node>): Area[] {
  const [own, around, path] = [ownBoxesOf(element).filter(isLarge), clipOf(element), clipPathOf(element)]
  const clip = path ? cutTo(around, path) : around
  if (!clip) return []
  if (own.length === 0) return [...paintedBoxesOf(element, clip, seen)]
  return own.map((box) => cutTo(box, clip)).filter((area) => area !== undefined)
}

/** True if an element with this style has a background, a border or a shadow. */
export function paintsItself(style: CSSStyleDeclaration): boolean {
  const { backgroundColor, backgroundImage, boxShadow } = style
  const borders = [style.borderTopWidth, style.borderBottomWidth, style.borderLeftWidth, style.borderRightWidth]
  const isClear = /^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)
  return !isClear || backgroundImage !== 'none' || boxShadow !== 'none' || borders.some((width) => Number.parseFloat(width) > 0)
}
