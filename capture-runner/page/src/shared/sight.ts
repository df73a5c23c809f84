// What a reader sees of the content of elements: whether it is transparent, cut away, or outside of the page.

import { pageStart } from './boxes.ts'
import { call, isHtml, read } from './dom.ts'
import { cutTo, overflowAreaOf } from './painted.ts'
import { type Area, clipPathOf } from './shapes.ts'
import { containerOf } from './tree.ts'

/** What the elements around a content leave visible of it. */
export interface Scene {
  /** Product of their opacities. */
  opacity: number
  /** Areas in which content of the flow, content with a position, and content that is fixed to the window can be seen. */
  flow: Area
  absolute: Area
  fixed: Area
}

/** Opacity up to which a text is as good as invisible. */
const FAINT = 0.05
/** Pages move what nobody shall see farther than this. Slides of a carousel are nearer. */
const FAR = 8_000

const NOTHING: Area = { left: 0, top: 0, right: 0, bottom: 0 }

/** The scene of a document: readers can scroll to all that is not left of it or above it. */
export function sceneOf(view: Window, opacity = 1): Scene {
  const { scrollX, scrollY, innerWidth } = view
  const everywhere = Number.MAX_SAFE_INTEGER
  const isPage = view === globalThis.window
  const start = isPage ? pageStart() : FAR
  // A page that is read from the right ends there.
  const right = isPage && start > 0 ? innerWidth - scrollX : everywhere
  const page = { left: -start - scrollX, top: -scrollY, right, bottom: everywhere }
  return { opacity, flow: page, absolute: page, fixed: page }
}

/**
 * The scene inside of an element. Reads few styles, because each takes long.
 * @param isOpen all texts of the element are in its scene
 */
export function enterScene(
  element: Element,
  style: CSSStyleDeclaration,
  { opacity, flow, absolute, fixed }: Scene,
  isOpen: boolean,
): Scene {
  const { position, clipPath, overflow } = style
  const isPlaced = position === 'absolute' || position === 'fixed'
  const around = position === 'fixed' ? (isOutside(element) ? NOTHING : fixed) : isPlaced ? absolute : flow
  const isCut = clipPath !== 'none' || (isPlaced && style.clip !== 'auto')
  const isTiny = overflow !== 'visible' && cutsAll(element, style)
  const cut = isCut && !isTiny ? clipPathOf(element) : undefined
  const isAside = overflow === 'visible' || (isOpen && !isCut && style.textIndent === '0px')
  const inner = isTiny ? NOTHING : isAside ? meet(around, cut) : reachOf(element, style, meet(around, cut))
  // Only if the areas differ, it matters for which of them the element is the containing block.
  const isAlike = inner === absolute && inner === fixed
  const holdsFixed = !isAlike && [style.transform, style.filter, style.perspective].some((value) => value !== 'none')
  return {
    opacity: opacity * Number(style.opacity) * veilOf(style),
    flow: inner,
    absolute: holdsFixed || position !== 'static' ? inner : meet(absolute, cut),
    fixed: holdsFixed ? inner : meet(fixed, cut),
  }
}

/** What filters and masks leave of an opacity. A mask of a picture may leave all. */
function veilOf(style: CSSStyleDeclaration): number {
  const { filter, maskImage } = style
  if (filter === 'none' && maskImage === 'none') return 1
  if (/contrast\(0\)|opacity\(0\)/.test(filter)) return 0
  const filtered = [...filter.matchAll(/opacity\(([\d.e-]+)\)/g)].reduce((left, [, value]) => left * Number(value), 1)
  if (maskImage === 'none') return filtered
  const { maskSize, maskMode } = style
  if (/^0(px|%)( |$)/.test(maskSize) || maskSize.includes(' 0px')) return 0
  if (/url\(|image-set|element\(/.test(maskImage)) return filtered
  const isLight = (color: string) => !maskMode.includes('luminance') || !/^rgba?\(0, 0, 0/.test(color)
  const colors = maskImage.match(/\b(?!calc|[a-z-]*gradient)[a-z-]+\([^()]*\)/g) ?? []
  return filtered * Math.max(0, ...colors.filter(isLight).map(alphaOf))
}

const meet = (area: Area, clip: Area | undefined): Area => (clip ? (cutTo(area, clip) ?? NOTHING) : area)

/** An element that is fixed beside the window, such as a closed menu. */
function isOutside(element: Element): boolean {
  const { left, top, right, bottom } = call(element, 'getBoundingClientRect')
  const view = read(element, 'ownerDocument').defaultView
  return (
    view !== null &&
    right - left > 0 &&
    bottom - top > 0 &&
    (right <= 0 || bottom <= 0 || left >= view.innerWidth || top >= view.innerHeight)
  )
}

/** True for a box of one pixel that cuts its content. */
function cutsAll(element: Element, { overflow, display }: CSSStyleDeclaration): boolean {
  if (!isHtml(element) || overflow.includes(' ') || display === 'inline' || display === 'contents') return false
  const { documentElement, body } = read(element, 'ownerDocument')
  return element !== documentElement && element !== body && Math.min(read(element, 'clientWidth'), read(element, 'clientHeight')) <= 1
}

/**
 * The area of a box that cuts its content. Readers can scroll such boxes, and turn the pages of carousels. They see nothing in a box of one pixel, and
 * nothing that an indent has moved away.
 */
function reachOf(element: Element, style: CSSStyleDeclaration, around: Area): Area {
  const box = overflowAreaOf(element)
  if (!box) return around
  const shown = cutTo(around, box)
  if (!shown || !isSeenIn(shown, shown)) return NOTHING
  if (style.textIndent !== '0px') return shown
  const [across, down] = [Math.max(FAR, read(element, 'scrollWidth')), Math.max(FAR, read(element, 'scrollHeight'))]
  return { left: box.left - across, top: box.top - down, right: box.right + across, bottom: box.bottom + down }
}

/** True for content with this box that shows more than a line of pixels. */
export const isSeenIn = (box: Area, area: Area): boolean =>
  Math.min(box.right, area.right) - Math.max(box.left, area.left) > 1 && Math.min(box.bottom, area.bottom) - Math.max(box.top, area.top) > 1

/** True if the area shows something. */
export const isShowing = ({ flow }: Scene): boolean => flow !== NOTHING

/** True if a reader sees all texts in an element, except those that an element in it cuts away. One question for many texts is quicker than many. */
export function showsAllTexts(parent: Node, range: Range, { flow }: Scene): boolean {
  range.selectNodeContents(parent)
  return [...range.getClientRects()].every((box) => isSeenIn(box, flow))
}

/** Opacity of a computed color. */
function alphaOf(color: string): number {
  if (color.startsWith('rgb(') && !color.includes('/')) return 1
  const [, legacy, modern] = /^rgba\(.*, ([\d.e-]+)\)$|\/ ([\d.e-]+)\)$/.exec(color) ?? []
  return Number(legacy ?? modern ?? 1)
}

/** False for letters that are transparent. */
export function isLegible(element: Element, style: CSSStyleDeclaration, opacity: number): boolean {
  const seen = (color: string) => opacity * alphaOf(color) > FAINT
  if (opacity <= FAINT) return false
  const isDrawn = !isHtml(element) && 'ownerSVGElement' in element
  if (isDrawn)
    return (style.fill !== 'none' && seen(style.fill) && style.fillOpacity !== '0') || (style.stroke !== 'none' && seen(style.stroke))
  return (
    seen(style.webkitTextFillColor) ||
    (style.webkitTextStrokeWidth !== '0px' && seen(style.webkitTextStrokeColor)) ||
    (style.textShadow !== 'none' && seen(style.textShadow.split(/(?<=\)) /)[0] ?? '')) ||
    hasLettersOfBackground(element)
  )
}

/** True if a background is cut to the letters. */
function hasLettersOfBackground(element: Element): boolean {
  for (let outer: Element | undefined = element; outer; outer = containerOf(outer)) {
    const { backgroundClip, backgroundImage, backgroundColor } = getComputedStyle(outer)
    if (backgroundClip.includes('text')) return backgroundImage !== 'none' || alphaOf(backgroundColor) > FAINT
  }
  return false
}

/** True for the text of a field or of generated content, whose place cannot be measured, if its style does not hide it. */
export function isShownByStyle(element: Element, style: CSSStyleDeclaration, opacity: number): boolean {
  const { visibility, fontSize, transform, clipPath, clip, textIndent, position, left, top, right, bottom, overflow, width, height } = style
  const isMoved = position !== 'static' && [left, top, right, bottom].some((side) => Number.parseFloat(side) <= -FAR)
  return (
    visibility === 'visible' &&
    fontSize !== '0px' &&
    isLegible(element, style, opacity * Number(style.opacity) * veilOf(style)) &&
    !isMoved &&
    !/^matrix\(0, 0, 0, 0,/.test(transform) &&
    Math.abs(Number.parseFloat(textIndent)) < 1_000 &&
    !/^inset\((50|[6-9]\d|100)%\)|^circle\(0px/.test(clipPath) &&
    !(/absolute|fixed/.test(position) && /^rect\((0|1)px,? (0|1)px,? (0|1)px,? (0|1)px\)/.test(clip)) &&
    (overflow === 'visible' || (Number.parseFloat(width) > 1 && Number.parseFloat(height) > 1) || width === 'auto' || height === 'auto')
  )
}
