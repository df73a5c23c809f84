import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import type { NewScreenshot } from '../store/ports.ts'

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
