import type { PageFunctions } from '../../../src/page/functions.ts'
import { scrollingElement } from '../shared/dom.ts'
import { loadEagerly } from './lazy.ts'

export const scrollWindow: PageFunctions['scrollWindow'] = (top, isEager) => {
  // A scroll down the page begins and ends at the top.
  if (isEager) loadEagerly(top === 0)
  // Where the page was scrolled to is not where it must begin if it loads again.
  history.scrollRestoration = 'manual'
  scrollTo({ top, left: 0, behavior: 'instant' })
  return { scrollHeight: scrollingElement()?.scrollHeight ?? 0, windowHeight: innerHeight }
}
