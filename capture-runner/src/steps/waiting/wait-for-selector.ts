import { attempt } from '../attempt.ts'
import { awaitAbsence, findElement } from '../find-element.ts'
import type { Step } from '../step.ts'

/** Waits until elements exist, and then until others are gone. */
export const waitForSelector: Step = {
  name: 'waitForSelector',
  isWanted: ({ options }) => (options.waitForSelector ?? options.waitForSelectorGone) !== undefined,
  run: async (work) => {
    const { waitForSelector: sought, waitForSelectorState, waitForSelectorCount: count, waitForSelectorGone: gone } = work.plan.options
    const wanted = { isVisible: waitForSelectorState === 'visible', count }
    if (sought !== undefined) await attempt(work, () => findElement(work, sought, wanted))
    if (gone !== undefined) await attempt(work, () => awaitAbsence(work, gone))
  },
}
