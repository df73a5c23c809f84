import { callInPage } from '../../page/call.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'

/** When to stop endless animations, in milliseconds since they were started. Undefined: never. A video shows how they move. */
export const endlessTimeOf = ({ video, endlessMilliseconds }: CapturePlan): number | undefined => (video ? undefined : endlessMilliseconds)

/** Stops endless animations at the same time in each capture, so that each picture shows the same. Costs nothing on a page that never had any. */
export async function restEndless(work: Work): Promise<void> {
  const milliseconds = endlessTimeOf(work.plan)
  if (milliseconds === undefined || work.hasEndless === false) return
  await inDocument(work, undefined, () => callInPage(work, 'restAnimations', milliseconds))
}
