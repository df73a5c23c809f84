import type { PageFunctions } from '../../../src/page/functions.ts'
import { nameOf } from '../shared/dom.ts'
import { allElements, shadowRootOf, useClosedRoots } from '../shared/tree.ts'

export const mayHaveClosedRoots: PageFunctions['mayHaveClosedRoots'] = () =>
  allElements().some((element) => nameOf(element).includes('-') && !shadowRootOf(element))

export const rememberClosedRoots: PageFunctions['rememberClosedRoots'] = (...roots: ShadowRoot[]) => useClosedRoots(roots)
