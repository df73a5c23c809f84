import type { PageFunctions } from '../../../src/page/functions.ts'
import { call, nameOf } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'
import { allElements, shadowRootOf } from '../shared/tree.ts'

/** Elements that authors give shadow roots, besides custom elements. */
const HOST = /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$/

/** Where to look for empty elements that show something, as shares of the window. */
const ACROSS = [0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98]
const DOWN = [0.01, 0.03, ...Array.from({ length: 20 }, (_, i) => (i + 0.5) / 20), 0.97, 0.99]

export const mayHaveClosedRoots: PageFunctions['mayHaveClosedRoots'] = () => {
  if (DOWN.some((y) => ACROSS.some((x) => isEmptyHost(topAt(x * innerWidth, y * innerHeight))))) return true
  for (const element of allElements()) if (nameOf(element).includes('-') && !shadowRootOf(element)) return true
  return false
}

/** The topmost element at a point, in shadow roots too. */
function topAt(x: number, y: number): Element | undefined {
  let top: Element | undefined
  for (let root: DocumentOrShadowRoot | undefined = document; root; ) {
    const inner: Element | null = root.elementFromPoint(x, y)
    if (!inner || inner === top) break
    top = inner
    root = shadowRootOf(inner)
  }
  return top
}

const isEmptyHost = (element: Element | undefined): boolean =>
  element !== undefined && HOST.test(nameOf(element)) && !shadowRootOf(element) && !call(element, 'hasChildNodes')

export const rememberClosedRoots: PageFunctions['rememberClosedRoots'] = (...roots: ShadowRoot[]) => {
  const known = recall('tintypeClosedRoots') ?? remember('tintypeClosedRoots', new Map())
  for (const root of roots) known.set(root.host, root)
}
