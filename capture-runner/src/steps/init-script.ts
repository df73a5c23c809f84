import { answered } from '../race.ts'
import type { Step } from './step.ts'

/** Has the client's JavaScript run before any script of the page, in every frame. */
export const initScript: Step = {
  name: 'initScript',
  isWanted: (plan) => plan.initScript !== undefined,
  run: async ({ tab, plan, signal }) => {
    await answered(tab.addInitScript(plan.initScript ?? ''), signal)
  },
}
