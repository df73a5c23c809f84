import type { PageFunctions } from '../../../src/page/functions.ts'
import { scrollingElement } from '../shared/scrolling.ts'
import { loadEagerly } from './lazy.ts'

export const scrollWindow: PageFunctions['scrollWindow'] = (top, isEager) => {
  if (isEager) loadEagerly()
  scrollTo({ top, left: 0, behavior: 'instant' })
  return { scrollHeight: scrollingElement().scrollHeight, windowHeight: innerHeight }
}
