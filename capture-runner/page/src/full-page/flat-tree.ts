import { call, nameOf, read } from '../shared/dom.ts'
import { shadowRootOf } from '../shared/tree.ts'

/** The elements below a node as they are shown: with those of shadow roots, and at the places of their slots. */
export function* flatElements(root: Document | Element): Generator<Element> {
  for (const element of childrenOf(root)) {
    yield element
    yield* flatElements(element)
  }
}

function childrenOf(root: Document | Element): Iterable<Element> {
  if (root instanceof Document) return root.children
  if (nameOf(root) === 'slot') {
    const assigned = call(root as HTMLSlotElement, 'assignedElements')
    if (assigned.length > 0) return assigned
  }
  return shadowRootOf(root)?.children ?? read(root, 'children')
}
