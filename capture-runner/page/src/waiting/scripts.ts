import type { PageFunctions } from '../../../src/page/functions.ts'

export const hasInlineScript: PageFunctions['hasInlineScript'] = (pattern) => {
  const wanted = new RegExp(pattern)
  return [...document.scripts].some(({ src, text }) => !src && wanted.test(text))
}
