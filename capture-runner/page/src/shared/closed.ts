// Elements that may have a closed shadow root, which scripts cannot find.

import { call, nameOf } from './dom.ts'
import { shadowRootOf } from './tree.ts'

/** Elements that authors give shadow roots, besides custom elements. */
const HOST = /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/

/** The topmost element at a point, in shadow roots too. */
export function topAt(x: number, y: number): Element | undefined {
  let top: Element | undefined
  for (let root: DocumentOrShadowRoot | undefined = document; root; ) {
    const inner: Element | null = root.elementFromPoint(x, y)
    if (!inner || inner === top) break
    top = inner
    root = shadowRootOf(inner)
  }
  return top
}

export const isEmptyHost = (element: Element | undefined): boolean =>
  element !== undefined && HOST.test(nameOf(element)) && !shadowRootOf(element) && !call(element, 'hasChildNodes')

/** True for a custom element without a shadow root that is known. */
export const isUnknownComponent = (element: Element): boolean => nameOf(element).includes('-') && !shadowRootOf(element)
