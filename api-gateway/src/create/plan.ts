import { derivedId, newId } from '@tintype/crds/ids'
import { z } from 'zod'

/** What a creation is called before any of it exists: whoever repeats it under the same plan meets what is there already. */
export const CreationPlan = z.object({
  /** Id of the reservation of quota. */
  reservation: z.string(),
  /** Acceptance, in ISO 8601. */
  at: z.iso.datetime(),
  /** Ids of what is created, in the order of the request. */
  ids: z.array(z.string()).min(1).max(100),
  batchId: z.string().optional(),
  /** What the answer says (spec 2.1). */
  estimatedTime: z.string().optional(),
})
export type CreationPlan = z.infer<typeof CreationPlan>

/** Plans the creation of `count` screenshots now; their ids follow from the reservation's. */
export function planScreenshots(at: Date, count: number, isBatch: boolean, estimatedTime?: string): CreationPlan {
  const reservation = newId('res', at)
  const ids = Array.from({ length: count }, (_, index) => derivedId('scr', at, `${reservation}/${index}`))
  return {
    reservation,
    at: at.toISOString(),
    ids,
    ...(isBatch ? { batchId: newId('batch', at) } : {}),
    ...(estimatedTime === undefined ? {} : { estimatedTime }),
  }
}
