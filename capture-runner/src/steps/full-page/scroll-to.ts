import { callInPage } from '../../page/call.ts'
import type { Extent } from '../../page/functions.ts'
import type { Work } from '../step.ts'

/** Scrolls instantly, regardless of the page's scroll-behavior. Switches off lazy loading if the client wants that. */
export const scrollTo = (work: Work, offset: number): Promise<Extent> =>
  callInPage(work, 'scrollWindow', offset, work.plan.picture.eagerImages)
