// What an element paints, which may differ from its box: a box without height can have tall content, a box as large as the window may paint nothing,
// and boxes around an element may hide a part of it.

import { boxOf, call, isHtml, nameOf, read } from './dom.ts'
import { containerOf, shadowRootOf } from './tree.ts'

/** An area of the window in CSS pixels. */
export interface Area {
  left: number
  top: number
  right: number
  bottom: number
}

export const isLarge = ({ left, top, right, bottom }: Area): boolean => right - left > 0 && bottom - top > 0

/** The area around all areas; undefined if there is none. */
export function boxAround(areas: readonly Area[]): Area | undefined {
  if (areas.length === 0) return undefined
  return {
    left: Math.min(...areas.map(({ left }) => left)),
    top: Math.min(...areas.map(({ top }) => top)),
    right: Math.max(...areas.map(({ right }) => right)),
    bottom: Math.max(...areas.map(({ bottom }) => bottom)),
  }
}

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
const pageArea = (): Area => ({ left: -scrollX, top: -scrollY, right: Number.MAX_SAFE_INTEGER, bottom: Number.MAX_SAFE_INTEGER })

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
function overflowAreaOf(element: Element): Area | undefined {
  const { overflowX, overflowY, overflow, display, contain } = getComputedStyle(element)
  const isCut = (value: string) => value !== 'visible'
  const isPainted = /paint|strict|content/.test(contain)
  if (element === document.documentElement || display === 'inline' || display === 'contents') return undefined
  const isOfWindow = element === document.body && getComputedStyle(document.documentElement).overflow === 'visible'
  if (isOfWindow || (overflow === 'visible' && !isPainted)) return undefined
  const box = boxOf(element)
  const isX = isCut(overflowX) || isPainted
  const isY = isCut(overflowY) || isPainted
  // Borders and scroll bars are outside. Transforms scale them.
  const [offsetWidth, offsetHeight] = [read(element as HTMLElement, 'offsetWidth'), read(element as HTMLElement, 'offsetHeight')]
  const [scaleX, scaleY] = [offsetWidth > 0 ? box.width / offsetWidth : 1, offsetHeight > 0 ? box.height / offsetHeight : 1]
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

/** The area around a clip path with `inset()`, `circle()`, `ellipse()` or `polygon()`; undefined: none, or another shape. */
export function clipPathOf(element: Element): Area | undefined {
  const { clipPath } = getComputedStyle(element)
  const [, shape, text = ''] = /^(inset|circle|polygon)\(([^()]*)\)$/.exec(clipPath) ?? []
  if (shape === undefined) return undefined
  const { left, top, right, bottom, width, height } = boxOf(element)
  const lengthOf = (value: string, whole: number) => (Number.parseFloat(value) || 0) * (value.endsWith('%') ? whole / 100 : 1)
  if (shape === 'inset') {
    const [up = '0', side = up, down = up, start = side] = (text.split(' round ')[0] ?? '').trim().split(/\s+/)
    return {
      left: left + lengthOf(start, width),
      top: top + lengthOf(up, height),
      right: right - lengthOf(side, width),
      bottom: bottom - lengthOf(down, height),
    }
  }
  if (shape === 'circle') {
    const [, radius, x = '50%', y = '50%'] = /^(\S+)(?: at (\S+) (\S+))?$/.exec(text) ?? []
    if (radius === undefined || !/^[\d.]+(px|%)$/.test(radius)) return undefined
    const r = lengthOf(radius, Math.hypot(width, height) / Math.SQRT2)
    const [middleX, middleY] = [left + lengthOf(x, width), top + lengthOf(y, height)]
    return { left: middleX - r, top: middleY - r, right: middleX + r, bottom: middleY + r }
  }
  const points = text.replace(/^(nonzero|evenodd),/, '').split(',')
  const xs = points.map((point) => left + lengthOf(point.trim().split(/\s+/)[0] ?? '0', width))
  const ys = points.map((point) => top + lengthOf(point.trim().split(/\s+/)[1] ?? '0', height))
  return { left: Math.min(...xs), top: Math.min(...ys), right: Math.max(...xs), bottom: Math.max(...ys) }
}

/** Elements that show something without text or other elements in them. */
const REPLACED = /^(img|video|audio|canvas|iframe|object|embed|input|textarea|select|button|meter|progress|svg|hr)$/

export const isReplaced = (element: Element): boolean => REPLACED.test(nameOf(element))

/** The areas that an element and its content paint. */
export function* paintedBoxesOf(element: Element, clip: Area = pageArea()): Generator<Area> {
  const style = getComputedStyle(element)
  if (style.display === 'none' || style.opacity === '0') return
  const shown = (boxes: Iterable<Area>) => [...boxes].map((box) => cutTo(box, clip)).filter((box) => box !== undefined)
  const isShown = style.visibility === 'visible'
  if (isShown && (isReplaced(element) || paintsItself(style))) yield* shown(call(element, 'getClientRects'))
  const overflow = overflowAreaOf(element)
  const inner = overflow ? cutTo(clip, overflow) : clip
  if (!inner) return
  for (const node of shadowRootOf(element)?.childNodes ?? read(element, 'childNodes')) {
    if (node.nodeType === Node.ELEMENT_NODE) yield* paintedBoxesOf(node as Element, inner)
    else if (node.nodeType === Node.TEXT_NODE && isShown && node.textContent?.trim() !== '') {
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const box of range.getClientRects()) {
        const part = cutTo(box, inner)
        if (part) yield part
      }
    }
  }
  if (nameOf(element) === 'slot') {
    for (const one of (element as HTMLSlotElement).assignedElements()) yield* paintedBoxesOf(one, inner)
  }
}

/** True if an element with this style has a background, a border or a shadow. */
export function paintsItself(style: CSSStyleDeclaration): boolean {
  const { backgroundColor, backgroundImage, boxShadow } = style
  const borders = [style.borderTopWidth, style.borderBottomWidth, style.borderLeftWidth, style.borderRightWidth]
  const isClear = /^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)
  return !isClear || backgroundImage !== 'none' || boxShadow !== 'none' || borders.some((width) => Number.parseFloat(width) > 0)
}
