import type { EffectiveOptions } from '@tintype/crds/capture-options/catalogue'
import type { FileFormat } from '@tintype/crds/capture-options/image'
import { type Colour, parseColour } from './colour.ts'

/** The file that is wanted. */
export interface ImagePlan {
  format: FileFormat
  /** 0 to 100; absent where there is no loss. */
  quality?: number
  transparent: boolean
  /** Canvas under pages that set none; absent: white. */
  canvas?: Colour
}

/** Works out the file. */
export function buildImage({ format, imageQuality, omitBackground, backgroundColor }: EffectiveOptions): ImagePlan {
  return {
    format,
    ...(format === 'png' || format === 'pdf' ? {} : { quality: imageQuality }),
    transparent: omitBackground,
    ...(backgroundColor === undefined ? {} : { canvas: parseColour(backgroundColor) }),
  }
}
