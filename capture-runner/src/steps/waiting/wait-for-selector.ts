import { attempt } from '../attempt.ts'
import { awaitAbsence, findElement } from '../find-element.ts'
import type { Step } from '../step.ts'

/** Waits until elements exist, and then until others are gone. */
export const waitForSelector: Step = {
  name: 'waitForSelector',
  isWanted: (plan) => plan.waitForSelector !== undefined || plan.waitForSelectorGone !== undefined,
  run: async (work) => {
    const { waitForSelector: sought, waitForSelectorGone: gone } = work.plan
    if (sought) await attempt(work, () => findElement(work, sought.selector, sought))
    if (gone !== undefined) await attempt(work, () => awaitAbsence(work, gone))
  },
}
