import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, queryAll, read } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'
import { findRoots } from '../shared/tree.ts'

export const readPageFacts: PageFunctions['readPageFacts'] = (maxNames) => {
  const ids = new Set<string>()
  const classes = new Set<string>()
  const hrefs = new Set<string>()
  for (const element of queryAll(document, '[id], [class], [href]')) {
    if (ids.size + classes.size + hrefs.size > maxNames) break
    const id = attributeOf(element, 'id')
    if (id) ids.add(id)
    for (const name of read(element, 'classList')) classes.add(name)
    const href = attributeOf(element, 'href')
    if (href) hrefs.add(href)
  }
  return { url: location.href, ids: [...ids], classes: [...classes], hrefs: [...hrefs] }
}

export const countElements: PageFunctions['countElements'] = () => document.getElementsByTagName('*').length

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
