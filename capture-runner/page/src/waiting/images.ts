import type { PageFunctions } from '../../../src/page/functions.ts'

/** Properties whose value may name an image. */
const PROPERTIES = ['backgroundImage', 'maskImage', 'borderImageSource', 'listStyleImage', 'content'] as const
const PSEUDO_ELEMENTS = [undefined, '::before', '::after', '::marker'] as const

export const findShownImages: PageFunctions['findShownImages'] = (urls, height) => {
  const shown = new Set<string>()
  for (const element of elementsOf(document)) {
    const left = urls.filter((url) => !shown.has(url))
    if (left.length === 0) break
    if (!isNear(element, height)) continue
    const named = namesOf(element)
    for (const url of left) if (named.some((name) => name.includes(url))) shown.add(url)
  }
  return [...shown]
}

/** The elements of the document, of its open shadow roots and of the frames of its origin. */
function* elementsOf(root: ParentNode): Generator<Element> {
  for (const element of root.querySelectorAll('*')) {
    yield element
    if (element.shadowRoot) yield* elementsOf(element.shadowRoot)
    const inner = element.localName === 'iframe' ? (element as HTMLIFrameElement).contentDocument : null
    if (inner) yield* elementsOf(inner)
  }
}

/** True if the element has a box, which may be empty, in the picture. What a frame contains counts as in the picture. */
function isNear(element: Element, height: number): boolean {
  if (element.getClientRects().length === 0) return false
  const { top, bottom, left, right } = element.getBoundingClientRect()
  return element.ownerDocument !== document || (bottom >= 0 && right >= 0 && left <= innerWidth && top <= height)
}

/** Texts that contain the URLs of an element's images. */
function namesOf(element: Element): string[] {
  const { currentSrc, src, poster, href } = element as Partial<HTMLImageElement & HTMLVideoElement & { href: SVGAnimatedString | string }>
  const link = typeof href === 'object' ? new URL(href.baseVal, element.baseURI).href : undefined
  const styles = PSEUDO_ELEMENTS.flatMap((pseudo) => {
    const style = getComputedStyle(element, pseudo)
    return PROPERTIES.map((property) => style[property])
  })
  return [currentSrc, src, poster, link, ...styles].filter((name) => typeof name === 'string')
}
