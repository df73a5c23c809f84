// The one way in which options find elements: in the document, in its shadow roots, and in the frames of its process. Selectors match within each
// root. Matches in the document come first.

import { call, isHtml, nameOf, queryAll, type Root, read } from './dom.ts'
import { recall } from './state.ts'

/** Closed roots that the runner has found, because scripts cannot. They stay known in the document. */
const closedRoots = recall('tintypeClosedRoots')

export const shadowRootOf = (element: Element): ShadowRoot | undefined => read(element, 'shadowRoot') ?? closedRoots?.get(element)

/** Elements that may contain a document. */
const FRAMES = 'iframe, frame, object, embed'

/** The document of a frame of the page's process. */
export function frameDocumentOf(element: Element): Document | undefined {
  const name = nameOf(element)
  if (name !== 'iframe' && name !== 'frame' && name !== 'object' && name !== 'embed') return undefined
  try {
    return read(element as HTMLIFrameElement, 'contentDocument') ?? call(element as HTMLObjectElement, 'getSVGDocument') ?? undefined
  } catch {
    return undefined
  }
}

/** The element that contains another one where it is shown: its slot, its parent, or the host of its shadow root. */
export function containerOf(element: Element): Element | undefined {
  const parent = read(element, 'assignedSlot') ?? read(element, 'parentNode')
  if (parent?.nodeType === Node.DOCUMENT_FRAGMENT_NODE) return (parent as ShadowRoot).host
  return parent?.nodeType === Node.ELEMENT_NODE ? (parent as Element) : undefined
}

/** The element and all that contain it where it is shown, also the elements of its frames. */
export function* holdersOf(element: Element): Generator<Element> {
  let holder: Element | undefined = element
  for (; holder; holder = containerOf(holder) ?? read(holder, 'ownerDocument').defaultView?.frameElement ?? undefined) yield holder
}

/** The nodes that an element shows in its place: those of its shadow root, those of its slot, or its own. None of what it does not render. */
export function partsOf(element: Element, style: CSSStyleDeclaration = getComputedStyle(element)): Iterable<Node> {
  if (style.contentVisibility === 'hidden') return []
  const inner = shadowRootOf(element)
  if (inner) return inner.childNodes
  const assigned = nameOf(element) === 'slot' ? call(element as HTMLSlotElement, 'assignedNodes') : []
  if (assigned.length > 0) return assigned
  const isClosed = nameOf(element) === 'details' && isHtml(element) && !read(element as HTMLDetailsElement, 'open')
  return isClosed ? queryAll(element, ':scope > summary:first-of-type') : read(element, 'childNodes')
}

/** Each call of a page function has these modules of its own, so the trees that it has found are still there. */
const found = new Map<boolean, readonly Root[]>()

/** All trees in which elements can be found, the document first. @param isFrameWanted also those of frames */
export function findRoots(isFrameWanted = true): readonly Root[] {
  const known = found.get(isFrameWanted)
  if (known) return known
  const roots: Root[] = [document]
  for (const root of roots) {
    visitElements(root, (element) => {
      const inner = shadowRootOf(element)
      if (inner) roots.push(inner)
    })
    const frames = isFrameWanted ? queryAll(root, FRAMES) : []
    roots.push(...frames.map(frameDocumentOf).filter((inner) => inner !== undefined))
  }
  found.set(isFrameWanted, roots)
  return roots
}

/** Visits all elements of a tree. Creates no list, because a page may have tens of thousands. */
function visitElements(root: Root, visit: (element: Element) => void): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) visit(node as Element)
}

/** All elements of these trees. */
export const allElements = (roots: readonly Root[] = findRoots()): Element[] => findMatches('*', roots)

/** The matches of a selector in these trees. */
export const findMatches = (selector: string, roots: readonly Root[] = findRoots()): Element[] =>
  roots.flatMap((root) => queryAll(root, selector))
