import { type ImageFormat, pictureLimits } from '@tintype/crds/options/output/formats'
import type { ProcessingPlan, ResizePlan } from '../plan/image-processing.ts'
import { CaptureError } from '../runtime/errors.ts'

// Computes how large a picture becomes, before it is made. Pure functions.

/** Width and height in pixels. */
interface Size {
  width: number
  height: number
}

/** True if the encoder needs the whole picture in memory, whatever the format. */
export const needsWhole = ({ progressive, paletteColors }: ProcessingPlan): boolean => progressive || paletteColors > 0

/** True if the resize can make a picture larger than it is. */
export const canEnlarge = ({ upscale, fit }: ResizePlan): boolean => upscale || fit === 'contain'

/** The size of the processed picture. @throws CaptureError TOO_LARGE if the format does not allow it */
export function targetSize(source: Size, format: ImageFormat, processing: ProcessingPlan): Size {
  const { resize, padding } = processing
  const { side, pixels } = pictureLimits(format, needsWhole(processing))
  const resized = resize ? toResized(source, resize) : source
  const target = { width: resized.width + 2 * padding, height: resized.height + 2 * padding }
  const largest = resize && isCutByContent(resize) ? toScaled(source, resize, Math.max) : target
  if (areaOf(target) <= pixels && areaOf(largest) <= pixels && Math.max(target.width, target.height) <= side) return target
  const { width, height } = areaOf(target) > areaOf(largest) ? target : largest
  throw new CaptureError(
    'TOO_LARGE',
    `the picture would have ${width} × ${height} pixels: a ${format} with these options has at most ${pixels} pixels and ${side} on a side. ` +
      'Lower image_width, image_height or image_padding, or leave image_upscale out',
  )
}

const areaOf = ({ width, height }: Size): number => width * height

/** To find the most detailed part, the whole picture is scaled before it is cut. */
const isCutByContent = ({ fit, position }: ResizePlan): boolean => fit === 'cover' && (position === 'entropy' || position === 'attention')

/** The size after a resize, as the image library computes it. */
function toResized(source: Size, resize: ResizePlan): Size {
  const { width, height, fit, upscale } = resize
  const hasBoth = width !== undefined && height !== undefined
  const scaled = toScaled(source, resize, fit === 'outside' ? Math.max : Math.min)
  // Padded to the requested sides, even if the picture itself is not enlarged.
  if (fit === 'contain') return { width: width ?? scaled.width, height: height ?? scaled.height }
  if (fit === 'fill' || (fit === 'cover' && hasBoth)) {
    const target = { width: width ?? source.width, height: height ?? source.height }
    return upscale ? target : { width: Math.min(target.width, source.width), height: Math.min(target.height, source.height) }
  }
  return scaled
}

/** The size after scaling both sides by the same factor, chosen from those of the two sides. */
function toScaled(source: Size, { width, height, upscale }: ResizePlan, choose: (...factors: number[]) => number): Size {
  const factors = [...(width === undefined ? [] : [width / source.width]), ...(height === undefined ? [] : [height / source.height])]
  const factor = Math.min(choose(...factors), upscale ? Number.POSITIVE_INFINITY : 1)
  return { width: Math.max(1, Math.round(source.width * factor)), height: Math.max(1, Math.round(source.height * factor)) }
}
