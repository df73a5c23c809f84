import { call, nameOf, read } from '../shared/dom.ts'
import { shadowRootOf } from '../shared/tree.ts'

/** The elements below an element as they are shown: with those of shadow roots, and at the places of their slots. */
export function flatElements(root: Element, found: Element[] = []): Element[] {
  for (const element of childrenOf(root)) {
    found.push(element)
    flatElements(element, found)
  }
  return found
}

function childrenOf(root: Element): Iterable<Element> {
  if (nameOf(root) === 'slot') {
    const assigned = call(root as HTMLSlotElement, 'assignedElements')
    if (assigned.length > 0) return assigned
  }
  return shadowRootOf(root)?.children ?? read(root, 'children')
}
