import { Annotation } from '@tintype/crds/identifiers/names'

/** A merge patch for an object. */
export interface ObjectPatch {
  metadata?: { labels?: Record<string, string | null>; annotations?: Record<string, string | null> }
  spec?: Record<string, unknown>
}

/** Metadata that records the time of a change. */
export const toUpdatedMetadata = (now: Date) => ({ annotations: { [Annotation.updatedAt]: now.toISOString() } })
