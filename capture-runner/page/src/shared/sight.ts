// What a reader sees of the content of elements: whether it is transparent, cut away, or outside of the page.

import { pageStart } from './boxes.ts'
import { boxOf, call, isHtml, read } from './dom.ts'
import type { PseudoHosts } from './generated.ts'
import { cutTo, isReplaced, overflowAreaOf, paintsItself } from './painted.ts'
import { type Area, clipPathOf } from './shapes.ts'
import { allElements, containerOf } from './tree.ts'

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

// Whether letters have the color of what is behind them. In doubt they have not: a picture, a gradient or another element can be behind a text.

/** The background of one color behind the content of an element. */
export interface Ground {
  /** Red, green and blue. Undefined: it lets through what is behind it, or has another notation. */
  channels: readonly number[] | undefined
  /** The element that has the background; absent: the canvas of the page. */
  element?: Element
}

/** Difference of a channel, of 255, that nobody sees. */
const ALIKE = 4

/** The ground of a document. Undefined: it is not known. @param hasOwnCanvas pages that set no background do not get a white one */
export function canvasOf(hasOwnCanvas: boolean): Ground | undefined {
  const isDark = getComputedStyle(document.documentElement).colorScheme.includes('dark')
  return hasOwnCanvas || isDark ? undefined : { channels: [255, 255, 255] }
}

/** The ground of what an element contains. @param outer that of the element itself */
export function groundOf(element: Element, { backgroundColor }: CSSStyleDeclaration, outer: Ground | undefined): Ground | undefined {
  return backgroundColor === 'rgba(0, 0, 0, 0)' ? outer : { element, channels: channelsOf(backgroundColor) }
}

const colors = new Map<string, number[] | undefined>()

/** Pages have few colors. */
function channelsOf(color: string): number[] | undefined {
  if (!colors.has(color)) colors.set(color, /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color)?.slice(1).map(Number))
  return colors.get(color)
}

/** True for letters of this style that nobody can tell from one color behind them. */
export function isLike(style: CSSStyleDeclaration, ground: Ground | undefined): boolean {
  const behind = ground?.channels
  const letters = behind && channelsOf(style.webkitTextFillColor)
  return (
    letters?.every((channel, index) => Math.abs(channel - (behind?.[index] ?? 0)) <= ALIKE) === true &&
    style.textShadow === 'none' &&
    style.webkitTextStrokeWidth === '0px' &&
    style.backgroundImage === 'none'
  )
}

interface Painter {
  element: Element
  box: Area
}

/** Finds texts in the color of their background. */
export class Camouflage {
  readonly #hosts: PseudoHosts
  /** What may be behind or before a text that it does not contain. Found once, because it takes long. */
  #painters: readonly Painter[] | undefined
  /** Elements whose pseudo-elements, of which nobody knows the boxes, may be behind a text. */
  #painting: readonly Painter[] | 'any' | undefined

  constructor(hosts: PseudoHosts) {
    this.#hosts = hosts
  }

  /** @param boxOfText asked only if the colors are alike */
  isHidden(element: Element, style: CSSStyleDeclaration, ground: Ground | undefined, boxOfText: () => Area): boolean {
    if (!ground || !isHtml(element) || !isLike(style, ground)) return false
    this.#painting ??= toPainters(this.#hosts.findPainting())
    if (this.#painting === 'any') return false
    const around = new Set<Element>()
    for (let outer: Element | undefined = element; outer; outer = containerOf(outer)) around.add(outer)
    for (const outer of around) {
      const { backgroundImage, backgroundClip, boxShadow, filter, mixBlendMode } = getComputedStyle(outer)
      if (backgroundImage !== 'none' || backgroundClip.includes('text') || boxShadow.includes('inset')) return false
      if (outer === ground.element) break
      if (filter !== 'none' || mixBlendMode !== 'normal') return false
    }
    const box = boxOfText()
    if (!isBehind(ground, box) || this.#painting.some((host) => around.has(host.element) || isSeenIn(host.box, box))) return false
    this.#painters ??= allElements().flatMap(toPainter)
    return !this.#painters.some((one) => isSeenIn(one.box, box) && !around.has(one.element))
  }
}

/** Large elements that stay in the window while the page scrolls can be behind all of it. */
function toPainter(element: Element): Painter[] {
  const style = getComputedStyle(element)
  const isStaying = /fixed|sticky/.test(style.position) && boxOf(element).height >= innerHeight / 2
  if (isStaying) return [{ element, box: EVERYWHERE }]
  return isReplaced(element) || paintsItself(style) ? [{ element, box: boxOf(element) }] : []
}

const ENDLESS = Number.MAX_SAFE_INTEGER
const EVERYWHERE: Area = { left: -ENDLESS, top: -ENDLESS, right: ENDLESS, bottom: ENDLESS }

const toPainters = <Known extends string>(elements: readonly Element[] | Known): Painter[] | Known =>
  typeof elements === 'string' ? elements : elements.map((element) => ({ element, box: boxOf(element) }))

/** True if the background is behind all of the text. That of the page is everywhere. */
function isBehind({ element }: Ground, box: Area): boolean {
  const { documentElement, body } = element ? read(element, 'ownerDocument') : document
  if (!element || element === documentElement) return true
  if (element === body && !paintsItself(getComputedStyle(documentElement))) return true
  const own = boxOf(element)
  return own.left <= box.left + 1 && own.top <= box.top + 1 && own.right >= box.right - 1 && own.bottom >= box.bottom - 1
}
