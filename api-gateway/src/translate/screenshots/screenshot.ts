import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import type { Screenshot, ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotRecord } from '@tintype/crds/records/record'

/** A Screenshot that is not created yet. */
export interface NewScreenshot {
  metadata: { name: string; annotations?: Record<string, string> }
  spec: ScreenshotSpec
}

/** A spec whose fields may be undefined. */
type Draft = { [Name in keyof ScreenshotSpec]: ScreenshotSpec[Name] | undefined } & Pick<ScreenshotSpec, 'url'>

/** Values for annotations. */
export interface Notes {
  estimatedTime?: string | undefined
  traceparent?: string | undefined
}

/** Builds the custom resource. User input never becomes a label or a name. */
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

/** True when its deletion was requested. The object only remains until its deliveries have completed. */
export const isDeleted = ({ metadata }: Pick<Screenshot, 'metadata'>): boolean =>
  metadata.annotations?.[Annotation.deleteRequested] !== undefined || metadata.deletionTimestamp !== undefined

/** True while a delivery of this screenshot is pending. */
export const hasOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): boolean =>
  Object.values(status?.deliveries ?? {}).some((receivers) => Object.values(receivers).some(({ state }) => state === 'open'))

/** Pending deliveries as `<webhook>/<event>`, with the names in `status.deliveries`. */
export const findOpenDeliveries = ({ status }: Pick<Screenshot, 'status'>): string[] =>
  Object.entries(status?.deliveries ?? {}).flatMap(([event, receivers]) =>
    Object.entries(receivers).flatMap(([webhook, { state }]) => (state === 'open' ? `${webhook}/${event}` : [])),
  )

/** The response to a create. */
export const toCreated = ({ id, url, options, created_at, estimated_time }: ScreenshotRecord) => ({
  id,
  url,
  status: 'pending',
  options,
  created_at,
  estimated_time,
})
