import type { PageFunctions } from '../../../src/page/functions.ts'
import { recall, remember } from '../shared/state.ts'
import { findRoots } from '../shared/tree.ts'

export const countSearchable: PageFunctions['countSearchable'] = () => {
  let count = 0
  for (const root of findRoots()) {
    // DevTools does not search beside the root element.
    const top = 'documentElement' in root ? (root.documentElement as Element | null) : root
    if (!top) continue
    const walker = document.createTreeWalker(top)
    for (let node: Node | null = walker.currentNode; node; node = walker.nextNode()) if (isSearchable(node)) count++
  }
  return count
}

const isSearchable = ({ nodeType }: Node): boolean =>
  nodeType === Node.ELEMENT_NODE || nodeType === Node.TEXT_NODE || nodeType === Node.COMMENT_NODE || nodeType === Node.CDATA_SECTION_NODE

export const rememberClosedRoots: PageFunctions['rememberClosedRoots'] = (...roots: ShadowRoot[]) => {
  const known = recall('tintypeClosedRoots') ?? remember('tintypeClosedRoots', new Map())
  for (const root of roots) known.set(root.host, root)
}
