/** Notices when a page shows more than before. */
export interface Growth {
  /** Elements that have changed or were animated. */
  changed: WeakSet<Node>
  /** Greatest lengths of texts. */
  lengths: WeakMap<Node, number>
  /** Letters that an element has gained, and the most so far. */
  gains: WeakMap<Node, { now: number; most: number }>
}

export const createGrowth = (): Growth => ({ changed: new WeakSet(), lengths: new WeakMap(), gains: new WeakMap() })

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
  const letters = countLetters(addedNodes)
  const hasGained = gains(growth, target, letters - countLetters(removedNodes))
  return hasGained || countElements(addedNodes) > countElements(removedNodes) || isLonger(growth, target, letters)
}

/** Notes letters that an element gains or loses. Returns true if it has never had as many. */
function gains({ gains }: Growth, node: Node, letters: number): boolean {
  const before = gains.get(node) ?? { now: 0, most: 0 }
  const now = before.now + letters
  gains.set(node, { now, most: Math.max(before.most, now) })
  return now > before.most
}

function isLonger({ lengths }: Growth, node: Node, length: number): boolean {
  if (length <= (lengths.get(node) ?? 0)) return false
  lengths.set(node, length)
  return true
}

const countElements = (nodes: NodeList): number => [...nodes].filter(({ nodeType }) => nodeType === 1).length

const countLetters = (nodes: NodeList): number =>
  [...nodes].reduce((sum, { nodeType, nodeValue }) => sum + (nodeType === 3 ? (nodeValue?.length ?? 0) : 0), 0)
