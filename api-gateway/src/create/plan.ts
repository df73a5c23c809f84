import { createdAtOf, derivedId, isBatchId, newId } from '@tintype/crds/ids'
import { z } from 'zod'

/** What a creation is called before any of it exists: whoever repeats it under the same plan meets what is there already. */
export const CreationPlan = z.object({
  /** Id of the reservation of quota. */
  reservation: z.string().regex(/^res_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
  /** Acceptance, in ISO 8601. */
  at: z.iso.datetime(),
  /** Ids of what is created, in the order of the request. */
  ids: z
    .array(z.string().regex(/^(?:scr|wh|key)_[0-7][0-9a-hjkmnp-tv-z]{25}$/))
    .min(1)
    .max(100),
  batchId: z.string().refine(isBatchId).optional(),
  /** What the answer says (spec 2.1). */
  estimatedTime: z.string().max(32).optional(),
})
export type CreationPlan = z.infer<typeof CreationPlan>

/** Plans the creation of `count` screenshots now; their ids follow from the reservation's. */
export function planScreenshots(at: Date, count: number, isBatch: boolean, estimatedTime?: string): CreationPlan {
  const reservation = newId('res', at)
  const ids = Array.from({ length: count }, (_, index) => screenshotId(at, reservation, index))
  return {
    reservation,
    at: at.toISOString(),
    ids,
    ...(isBatch ? { batchId: newId('batch', at) } : {}),
    ...(estimatedTime === undefined ? {} : { estimatedTime }),
  }
}

/** True when the ids of a plan that was read are those that it must have: made at its instant, and of screenshots, from its reservation. */
export function isConsistent({ reservation, at, ids, batchId }: CreationPlan): boolean {
  const made = new Date(at)
  const isOfThen = (id: string): boolean => createdAtOf(id).getTime() === made.getTime()
  const isPlanned = (id: string, index: number): boolean =>
    id.startsWith('scr_') ? id === screenshotId(made, reservation, index) : ids.length === 1 && isOfThen(id)
  return isOfThen(reservation) && ids.every(isPlanned) && (batchId === undefined || isOfThen(batchId))
}

const screenshotId = (at: Date, reservation: string, index: number): string => derivedId('scr', at, `${reservation}/${index}`)
