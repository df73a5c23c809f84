import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'

/** Tells what the record tells of the page. */
export type MetadataPlan = Readonly<Record<never, never>>

/** Works out what the record tells of the page. */
export function buildMetadata(_options: EffectiveOptions): MetadataPlan {
  return {}
}
