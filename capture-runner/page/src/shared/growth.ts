/** Notices when a page shows more than before. */
export interface Growth {
  /** Elements that have changed or were animated. */
  changed: WeakSet<Node>
  /** Greatest lengths of texts. */
  lengths: WeakMap<Node, number>
}

export const createGrowth = (): Growth => ({ changed: new WeakSet(), lengths: new WeakMap() })

/** True for an element's first change. A slideshow changes the same elements again and again. */
export function isFirstChange({ changed }: Growth, target: Node): boolean {
  if (changed.has(target)) return false
  changed.add(target)
  return true
}

/** True if elements or text were added. A clock replaces its text by one of the same length. */
export function hasGrownBy(growth: Growth, { type, target, addedNodes, removedNodes }: MutationRecord): boolean {
  if (type === 'attributes') return isFirstChange(growth, target)
  if (type === 'characterData') return isLonger(growth, target, target.nodeValue?.length ?? 0)
  return countElements(addedNodes) > countElements(removedNodes) || isLonger(growth, target, countLetters(addedNodes))
}

function isLonger({ lengths }: Growth, node: Node, length: number): boolean {
  if (length <= (lengths.get(node) ?? 0)) return false
  lengths.set(node, length)
  return true
}

const countElements = (nodes: NodeList): number => [...nodes].filter(({ nodeType }) => nodeType === 1).length

const countLetters = (nodes: NodeList): number =>
  [...nodes].reduce((sum, { nodeType, nodeValue }) => sum + (nodeType === 3 ? (nodeValue?.length ?? 0) : 0), 0)
