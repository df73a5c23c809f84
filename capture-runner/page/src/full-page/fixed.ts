import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/dom.ts'
import { allElements, findRoots } from '../shared/tree.ts'
import { keeping } from './bars.ts'

/** Also in shadow roots. The fixed elements of a frame stay in it, so they do not repeat. */
export const hideFixed: PageFunctions['hideFixed'] = (kept) => {
  const isKept = keeping(kept)
  for (const element of allElements(findRoots(false))) {
    if (element === document.documentElement || element === document.body || isKept(element)) continue
    if (/fixed|sticky/.test(getComputedStyle(element).position)) setStyle(element, { visibility: 'hidden' })
  }
}
