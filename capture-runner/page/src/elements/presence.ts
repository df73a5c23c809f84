import type { PageFunctions } from '../../../src/page/functions.ts'
import { findMatches, findVisible } from '../shared/matches.ts'

export const findPresence: PageFunctions['findPresence'] = (selector, { isVisible = true, count = 1 }) =>
  (isVisible ? findVisible(selector) : findMatches(selector)).length >= count ? 'there' : 'absent'
