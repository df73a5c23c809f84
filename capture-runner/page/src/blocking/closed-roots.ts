import type { PageFunctions } from '../../../src/page/functions.ts'
import { isEmptyHost, isUnknownComponent, topAt } from '../shared/closed.ts'
import { recall, remember } from '../shared/state.ts'
import { allElements } from '../shared/tree.ts'

/** Where to look for empty elements that show something, as shares of the window. */
const ACROSS = [0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98]
const DOWN = [
  0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99,
]

export const mayHaveClosedRoots: PageFunctions['mayHaveClosedRoots'] = () => {
  if (DOWN.some((y) => ACROSS.some((x) => isEmptyHost(topAt(x * innerWidth, y * innerHeight))))) return true
  return allElements().some(isUnknownComponent)
}

export const rememberClosedRoots: PageFunctions['rememberClosedRoots'] = (...roots: ShadowRoot[]) => {
  const known = recall('tintypeClosedRoots') ?? remember('tintypeClosedRoots', new Map())
  for (const root of roots) known.set(root.host, root)
}
