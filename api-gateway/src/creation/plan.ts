import { createdAtOf, derivedId, isBatchId, newId } from '@tintype/crds/identifiers/ids'
import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { z } from 'zod'
import { definedOf } from '../http/fields.ts'
import type { NewScreenshot } from '../store/ports.ts'

/** All names of a creation, chosen before any object exists. A repetition with the same plan finds the objects that already exist. */
export const CreationPlan = z.object({
  /** Id of the quota reservation. */
  reservation: z.string().regex(/^res_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
  /** When the request was accepted, in ISO 8601. */
  at: z.iso.datetime(),
  /** Ids of the objects, in the order of the request. */
  ids: z
    .array(z.string().regex(/^(?:scr|wh|key|sch)_[0-7][0-9a-hjkmnp-tv-z]{25}$/))
    .min(1)
    .max(100),
  batchId: z.string().refine(isBatchId).optional(),
  /** Text for the response, such as `10-60s`. */
  estimatedTime: z.string().max(32).optional(),
})
export type CreationPlan = z.infer<typeof CreationPlan>

/** Plans the creation of `count` screenshots. Their ids are derived from the reservation id. */
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

/** Checks a stored plan: all ids must have its timestamp, and screenshot ids must be derived from its reservation id. */
export function isConsistent({ reservation, at, ids, batchId }: CreationPlan): boolean {
  const made = new Date(at)
  const isOfThen = (id: string): boolean => createdAtOf(id).getTime() === made.getTime()
  const isPlanned = (id: string, index: number): boolean =>
    id.startsWith('scr_') ? id === screenshotId(made, reservation, index) : ids.length === 1 && isOfThen(id)
  return isOfThen(reservation) && ids.every(isPlanned) && (batchId === undefined || isOfThen(batchId))
}

const screenshotId = (at: Date, reservation: string, index: number): string => derivedId('scr', at, `${reservation}/${index}`)

/** A spec whose fields may be undefined. */
type Draft = { [Name in keyof ScreenshotSpec]: ScreenshotSpec[Name] | undefined } & Pick<ScreenshotSpec, 'url'>

/** Values for annotations. */
interface Notes {
  estimatedTime?: string | undefined
  traceparent?: string | undefined
}

/** Builds the custom resource. User input never becomes a label or a name. */
export const buildScreenshot = (id: string, draft: Draft, notes: Notes = {}): NewScreenshot => ({
  metadata: { name: toObjectName(id), ...toAnnotations(notes) },
  spec: definedOf(draft) as ScreenshotSpec,
})

function toAnnotations({ estimatedTime, traceparent }: Notes): Pick<NewScreenshot['metadata'], 'annotations'> {
  const annotations = definedOf({ [Annotation.estimatedTime]: estimatedTime, [Annotation.traceparent]: traceparent })
  return Object.keys(annotations).length === 0 ? {} : { annotations }
}
