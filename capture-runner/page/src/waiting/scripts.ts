import type { PageFunctions } from '../../../src/page/functions.ts'
import { findMatches } from '../shared/tree.ts'

export const hasInlineScript: PageFunctions['hasInlineScript'] = (pattern) => {
  const wanted = new RegExp(pattern)
  return findMatches('script').some((element) => !(element as HTMLScriptElement).src && wanted.test(element.textContent ?? ''))
}
