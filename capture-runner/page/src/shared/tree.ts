// The one way in which options find elements: in the document, in its shadow roots, and in the frames of its process. Selectors match within each
// root. Matches in the document come first.

import { call, nameOf, queryAll, read } from './dom.ts'
import { recall, remember } from './state.ts'

export type Root = Document | ShadowRoot

/** Closed roots are invisible to scripts, so the runner passes them. They stay known in the document. */
export function useClosedRoots(roots: readonly ShadowRoot[]): void {
  const known = recall('tintypeClosedRoots') ?? remember('tintypeClosedRoots', new Map())
  for (const root of roots) known.set(root.host, root)
}

export const shadowRootOf = (element: Element): ShadowRoot | undefined =>
  read(element, 'shadowRoot') ?? recall('tintypeClosedRoots')?.get(element)

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

/** All elements of these trees. */
export const allElements = (roots: readonly Root[] = findRoots()): Element[] => findMatches('*', roots)

/** All trees in which elements can be found, the document first. @param isFrameWanted also those of frames */
export function findRoots(isFrameWanted = true): Root[] {
  const roots: Root[] = [document]
  for (const root of roots) {
    for (const element of queryAll(root, '*')) {
      const inner = shadowRootOf(element) ?? (isFrameWanted ? frameDocumentOf(element) : undefined)
      if (inner) roots.push(inner)
    }
  }
  return roots
}

/** The matches of a selector in these trees. */
export const findMatches = (selector: string, roots: readonly Root[] = findRoots()): Element[] =>
  roots.flatMap((root) => queryAll(root, selector))

/** True if the element has a box that is not hidden. It may be outside of the window. */
export const isVisible = (element: Element): boolean =>
  call(element, 'getClientRects').length > 0 && getComputedStyle(element).visibility === 'visible'

/** The visible matches of a selector. */
export const findVisible = (selector: string): Element[] => findMatches(selector).filter(isVisible)

/** The first visible match. Searches the other trees only if the document has none. */
export const findFirstVisible = (selector: string): Element | undefined =>
  queryAll(document, selector).find(isVisible) ?? findVisible(selector)[0]
