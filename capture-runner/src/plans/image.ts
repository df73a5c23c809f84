import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'
import type { ImageFormat } from '@tintype/crds/capture-options/image'

/** The file that is wanted. */
export interface ImagePlan {
  format: ImageFormat
  /** 0 to 100; absent for png. */
  quality?: number
  transparent: boolean
}

/** Works out the file. */
export function buildImage({ format, imageQuality, omitBackground }: EffectiveOptions): ImagePlan {
  return { format, ...(format === 'png' ? {} : { quality: imageQuality }), transparent: omitBackground }
}
