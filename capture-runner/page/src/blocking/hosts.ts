/** Elements that page authors give shadow roots, besides custom elements. */
const HOST = /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$|-/

/** Custom elements, and the topmost elements in the window. A query for each element would take too long. */
export function findHosts(maxHosts: number, ...knownRoots: ShadowRoot[]): Element[] {
  const known = new Map(knownRoots.map((root) => [root.host, root]))
  const rootOf = (element: Element) => element.shadowRoot ?? known.get(element)
  const hosts = new Set<Element>()
  const add = (element: Element) => {
    if (hosts.size < maxHosts && HOST.test(element.localName) && !rootOf(element)) hosts.add(element)
  }
  const topAt = (x: number, y: number): Element | undefined => {
    let top: Element | undefined
    for (let root: DocumentOrShadowRoot | undefined = document; root; ) {
      const inner: Element | null = root.elementFromPoint(x, y)
      if (!inner || inner === top) break
      top = inner
      root = rootOf(inner)
    }
    return top
  }
  const across = [0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98]
  const down = [5, 20, ...Array.from({ length: 20 }, (_, i) => ((i + 0.5) * innerHeight) / 20), innerHeight - 20, innerHeight - 5]
  for (const y of down) {
    for (const x of across) {
      const top = topAt(x * innerWidth, y)
      if (top) add(top)
    }
  }
  const trees: ParentNode[] = [document]
  for (const tree of trees) {
    for (const element of tree.querySelectorAll('*')) {
      if (element.localName.includes('-')) add(element)
      const root = rootOf(element)
      if (root) trees.push(root)
    }
  }
  return [...hosts]
}
