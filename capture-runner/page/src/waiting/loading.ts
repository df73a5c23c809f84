import type { PageFunctions } from '../../../src/page/functions.ts'
import { boxOf, call, linkOf, nameOf, read, setStyle } from '../shared/dom.ts'
import { allElements } from '../shared/tree.ts'

/** Forces a layout, which starts the requests that it needs. Also hides the caret, whose blinking would make two screenshots differ. */
export const countLoading: PageFunctions['countLoading'] = (height) => {
  if (document.documentElement) boxOf(document.documentElement)
  const isNear = (image: HTMLImageElement) => {
    const { top, bottom, left, right, width } = image.getBoundingClientRect()
    return width > 0 && bottom > 0 && right > 0 && left < innerWidth && top < height
  }
  hideCaret()
  const fonts = document.fonts?.status === 'loading' ? 1 : 0
  return fonts + [...document.images].filter((image) => !image.complete && isNear(image)).length
}

function hideCaret(): void {
  const active = document.activeElement
  if (active && ((active as HTMLElement).isContentEditable === true || /^(input|textarea)$/.test(nameOf(active)))) {
    setStyle(active, { 'caret-color': 'transparent' })
  }
}

/** Properties whose value may name an image. */
const PROPERTIES = ['backgroundImage', 'maskImage', 'borderImageSource', 'listStyleImage', 'content'] as const
const PSEUDO_ELEMENTS = [undefined, '::before', '::after', '::marker'] as const

export const findShownImages: PageFunctions['findShownImages'] = (urls, height) => {
  const shown = new Set<string>()
  const wanted = new Set(urls)
  for (const element of allElements()) {
    if (shown.size === wanted.size) break
    const named = isNear(element, height) ? namesOf(element) : []
    for (const url of named.length === 0 ? [] : wanted) if (named.some((name) => name.includes(url))) shown.add(url)
  }
  return [...shown]
}

/** True if the element has a box, which may be empty, in the picture. What a frame contains counts as in the picture. */
function isNear(named: Element, height: number): boolean {
  // The images of patterns and filters have no box, but their drawing has one.
  const drawing = /^(image|feImage)$/.test(nameOf(named)) ? read(named as SVGElement, 'ownerSVGElement') : null
  const element = drawing ?? named
  if (call(element, 'getClientRects').length === 0) return false
  const { top, bottom, left, right } = boxOf(element)
  return read(element, 'ownerDocument') !== document || (bottom >= 0 && right >= 0 && left <= innerWidth && top <= height)
}

/** Texts that contain the URLs of an element's images. */
function namesOf(element: Element): string[] {
  const media = element as HTMLImageElement & HTMLVideoElement
  const link = /^(image|feImage)$/.test(nameOf(element)) ? linkOf(element)?.href : undefined
  const styles = PSEUDO_ELEMENTS.flatMap((pseudo) => {
    const style = getComputedStyle(element, pseudo)
    return PROPERTIES.map((property) => style[property]).filter((value) => value.includes('url('))
  })
  const own = [read(media, 'currentSrc'), read(media, 'src'), read(media, 'poster'), link]
  return [...own, ...styles].filter((name): name is string => typeof name === 'string' && name !== '')
}

// Idle callbacks are called in the order of their requests, so all earlier ones have been called.
export const whenIdle: PageFunctions['whenIdle'] = () => new Promise((resolve) => requestIdleCallback(() => resolve()))

// An animation without a target, which the browser starts with the next frame.
export const nextFrame: PageFunctions['nextFrame'] = async () => {
  const animation = new Animation(new KeyframeEffect(null, null, 1))
  animation.play()
  await animation.ready
}
