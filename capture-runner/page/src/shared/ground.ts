// Whether letters have the color of what is behind them. In doubt they have not: a picture, a gradient or another element can be behind a text.

import { boxOf, isHtml, read } from './dom.ts'
import { isReplaced, paintsItself } from './painted.ts'
import type { PseudoHosts } from './pseudo-hosts.ts'
import type { Area } from './shapes.ts'
import { isSeenIn } from './sight.ts'
import { allElements, containerOf } from './tree.ts'

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

const FAR = Number.MAX_SAFE_INTEGER
const EVERYWHERE: Area = { left: -FAR, top: -FAR, right: FAR, bottom: FAR }

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
