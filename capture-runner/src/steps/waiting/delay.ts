import { pause } from '../../runtime/race.ts'
import type { Step } from '../step.ts'

/** Waits as long as the client asked. */
export const delay: Step = {
  name: 'delay',
  isWanted: (plan) => plan.options.delay > 0,
  run: ({ plan, signal }) => pause(plan.options.delay, signal),
}
