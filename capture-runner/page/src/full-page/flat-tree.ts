/** The elements below a node as they are shown: with those of open shadow roots, and at the places of their slots. */
export function* flatElements(root: ParentNode): Generator<Element> {
  for (const element of childrenOf(root)) {
    yield element
    yield* flatElements(element)
  }
}

function childrenOf(root: ParentNode): Iterable<Element> {
  if (root instanceof HTMLSlotElement) {
    const assigned = root.assignedElements()
    if (assigned.length > 0) return assigned
  }
  return (root as Element).shadowRoot?.children ?? root.children
}

/** The element that contains another one where it is shown: its slot, its parent, or the host of its shadow root. */
export function containerOf(element: Element): Element | null {
  const parent = element.assignedSlot ?? element.parentElement
  if (parent) return parent
  const root = element.getRootNode()
  return root instanceof ShadowRoot ? root.host : null
}
