import { Annotation } from '@tintype/crds/names'

/** The parts of an object that a change writes, as a merge patch. */
export interface ObjectPatch {
  metadata?: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> }
  spec?: Record<string, unknown>
}

/** Metadata that records the time of a change. */
export const toUpdatedMetadata = (now: Date) => ({ annotations: { [Annotation.updatedAt]: now.toISOString() } })
