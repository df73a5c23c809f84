import { Annotation, toObjectName } from '@tintype/crds/identifiers/names'
import type { ScreenshotSpec } from '@tintype/crds/kinds/screenshot'
import { definedOf } from '../http/fields.ts'
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
  spec: definedOf(draft) as ScreenshotSpec,
})

function toAnnotations({ estimatedTime, traceparent }: Notes): Pick<NewScreenshot['metadata'], 'annotations'> {
  const annotations = definedOf({ [Annotation.estimatedTime]: estimatedTime, [Annotation.traceparent]: traceparent })
  return Object.keys(annotations).length === 0 ? {} : { annotations }
}
