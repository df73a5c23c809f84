import type { Screenshot, ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { Annotation, toObjectName } from '@tintype/crds/names'
import type { ScreenshotRecord } from '@tintype/crds/record'

/** A Screenshot before the API server has seen it. */
export interface NewScreenshot {
  metadata: { name: string; annotations?: Record<string, string> }
  spec: ScreenshotSpec
}

/** A spec some of whose fields may not have been chosen. */
type Draft = { [Name in keyof ScreenshotSpec]: ScreenshotSpec[Name] | undefined } & Pick<ScreenshotSpec, 'url'>

/** What is noted on an object besides its spec. */
export interface Notes {
  estimatedTime?: string | undefined
  traceparent?: string | undefined
}

/** Builds the custom resource. Nothing the caller wrote becomes a label or a name. */
export const buildScreenshot = (id: string, draft: Draft, notes: Notes = {}): NewScreenshot => ({
  metadata: { name: toObjectName(id), ...toAnnotations(notes) },
  spec: Object.fromEntries(Object.entries(draft).filter(([, value]) => value !== undefined)) as unknown as ScreenshotSpec,
})

function toAnnotations({ estimatedTime, traceparent }: Notes): Pick<NewScreenshot['metadata'], 'annotations'> {
  const annotations = {
    ...(estimatedTime === undefined ? {} : { [Annotation.estimatedTime]: estimatedTime }),
    ...(traceparent === undefined ? {} : { [Annotation.traceparent]: traceparent }),
  }
  return Object.keys(annotations).length === 0 ? {} : { annotations }
}

/** True when somebody asked for its deletion: it waits for its deliveries only, and nobody reads it any more. */
export const isDeleted = ({ metadata }: Pick<Screenshot, 'metadata'>): boolean =>
  metadata.annotations?.[Annotation.deleteRequested] !== undefined || metadata.deletionTimestamp !== undefined

/** True while a webhook is still owed an event of this screenshot. */
export const hasOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  Object.values(status?.deliveries ?? {}).some((receivers) => Object.values(receivers).some(({ state }) => state === 'open'))

/** Deliveries that await another attempt: webhook, as the ledger calls it, and event, with a slash between. */
export const findOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): string[] =>
  Object.entries(status?.deliveries ?? {}).flatMap(([event, receivers]) =>
    Object.entries(receivers).flatMap(([webhook, { state }]) => (state === 'open' ? `${webhook}/${event}` : [])),
  )

/** The answer to a creation: exactly the fields of spec 2.1. */
export const toCreated = ({ id, url, options, created_at, estimated_time }: ScreenshotRecord) => ({
  id,
  url,
  status: 'pending',
  options,
  created_at,
  estimated_time,
})
