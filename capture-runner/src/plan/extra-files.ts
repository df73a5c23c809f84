import { type ArtifactType, artifactsOf } from '@tintype/crds/options/artifacts'
import type { EffectiveOptions } from '@tintype/crds/options/catalogue'

/** Tells the files beside the picture. */
export interface ExtraFilesPlan {
  files: ReadonlySet<ArtifactType>
}

/** Works out the files beside the picture. */
export const buildExtraFiles = (options: EffectiveOptions): ExtraFilesPlan => ({
  files: new Set(artifactsOf(options).map(({ type }) => type)),
})
