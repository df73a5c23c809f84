import { type ArtifactType, artifactsOf } from '@tintype/crds/options/artifacts'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'

/** The additional files. */
export interface ExtraFilesPlan {
  files: ReadonlySet<ArtifactType>
}

/** Builds the plan for additional files. */
export const buildExtraFiles = (options: EffectiveOptions): ExtraFilesPlan => ({
  files: new Set(artifactsOf(options).map(({ type }) => type)),
})
