import { callInPage } from '../../page/call.ts'
import type { Step, Work } from '../step.ts'
import { findClosedRoots, includeClosedRoots } from '../whole-page.ts'

/** Before a screenshot beyond the window: undoes a lock, expands a part that scrolls to its full height, and pins elements that are as tall as the window. */
export const unfold: Step = {
  name: 'unfold',
  onFailure: 'warn',
  isWanted: ({ picture }) =>
    picture.scrollContainer !== undefined ||
    picture.unlocks ||
    picture.pinWindowHeights ||
    (picture.eagerImages && !picture.sweep && picture.scroll === undefined),
  run: async (work) => {
    await unfoldParts(work, false)
  },
}

/**
 * Returns true if the unfolded part has grown since the last call.
 * @param isAgain for content that has arrived since; the window may be taller now, so its height says nothing
 */
export async function unfoldParts(work: Work, isAgain: boolean): Promise<boolean> {
  const { scrollContainer: container, unlocks, pinWindowHeights: pins, eagerImages: eager, format } = work.plan.picture
  if (typeof container === 'object') await includeClosedRoots(work)
  const parts = { container, unlocks, pins: pins && !isAgain, eager, keepsWidth: format !== 'pdf' }
  let found = await callInPage(work, 'unfold', parts)
  if (found === 'closed') {
    await findClosedRoots(work)
    found = await callInPage(work, 'unfold', { ...parts, pins: false, eager: false })
  }
  work.hasUnfolded = found === 'found' || found === 'grown'
  return found === 'grown'
}
