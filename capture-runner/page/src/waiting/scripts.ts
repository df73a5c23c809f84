import type { PageFunctions } from '../../../src/page/functions.ts'
import { nameOf } from '../shared/dom.ts'
import { findMatches } from '../shared/tree.ts'

export const hasInlineScript: PageFunctions['hasInlineScript'] = (pattern) => {
  const wanted = new RegExp(pattern)
  const scripts = findMatches('script').filter((element): element is HTMLScriptElement => nameOf(element) === 'script' && 'text' in element)
  return scripts.some(({ src, text }) => !src && wanted.test(text))
}
