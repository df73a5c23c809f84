import { type ImageFormat, MAX_WHOLE_PIXELS } from '@tintype/crds/options/output/formats'
import type { Sharp } from 'sharp'
import type { ProcessingPlan, ResizePlan, ThumbnailPlan } from '../plan/image-processing.ts'
import { CaptureError } from '../runtime/errors.ts'
import { clampQuality, encodeWebp } from './encode.ts'
import sharp from './library.ts'
import { sizeOf } from './stitch.ts'
import { canEnlarge, targetSize } from './tiles.ts'

// Processes an image after the screenshot, only if an option needs it. Otherwise the browser's file is the result.

/** The final form of an image. */
export interface Finish {
  format: ImageFormat
  /** 0 to 100; absent for png. */
  quality: number | undefined
  /** False: spend time to make a smaller PNG. */
  fastPng: boolean
  processing: ProcessingPlan
}

/** The file and warnings. */
export interface Processed {
  picture: Buffer
  warnings: string[]
}

/**
 * Processes the image by the plan.
 * @throws CaptureError TOO_LARGE if the format does not allow the size in pixels, or if no quality and no size meets the limit in bytes
 */
export async function processPicture(picture: Buffer, plan: Finish): Promise<Processed> {
  const { master, finish } = await trimBeforeEnlarging(picture, plan)
  const { processing, format } = finish
  const target = targetSize(await sizeOf(master), format, processing)
  const first = await make(master, finish, WHOLE)
  if (processing.maxBytes === undefined || first.length <= processing.maxBytes) return { picture: first, warnings: [] }
  return reduceToLimit(master, target.width * target.height, finish)
}

/** Trims in a separate pass if the result can be enlarged, because its size is not known before. */
async function trimBeforeEnlarging(picture: Buffer, finish: Finish): Promise<{ master: Buffer; finish: Finish }> {
  const { trimThreshold, ...processing } = finish.processing
  if (trimThreshold === undefined || !processing.resize || !canEnlarge(processing.resize)) return { master: picture, finish }
  const trimmed = sharp(picture, { limitInputPixels: false }).trim({ threshold: trimThreshold })
  return { master: await trimmed.png({ compressionLevel: 1 }).toBuffer(), finish: { ...finish, processing } }
}

/** Reductions of one attempt: shares of the requested quality and size. */
interface Try {
  quality: number
  size: number
  /** Colors of a PNG palette; 0: no palette. */
  colors: number
}

const WHOLE: Try = { quality: 1, size: 1, colors: 0 }
const SIZES: readonly Try[] = [0.75, 0.5, 0.35, 0.25, 0.15].map((size) => ({ quality: 0.4, size, colors: 256 }))
const LOSSY_TRIES: readonly Try[] = [...[0.8, 0.6, 0.4].map((quality) => ({ quality, size: 1, colors: 0 })), ...SIZES]
const PNG_TRIES: readonly Try[] = [{ quality: 1, size: 1, colors: 256 }, ...SIZES]

async function reduceToLimit(master: Buffer, pixels: number, finish: Finish): Promise<Processed> {
  const { maxBytes = Number.POSITIVE_INFINITY } = finish.processing
  const isExact = finish.format === 'png' || finish.processing.lossless
  // A palette needs the whole picture in memory.
  const pngTries = PNG_TRIES.filter(({ size }) => pixels * size ** 2 <= MAX_WHOLE_PIXELS)
  for (const one of finish.format === 'png' ? pngTries : isExact ? SIZES : LOSSY_TRIES) {
    const picture = await make(master, finish, one)
    if (picture.length <= maxBytes) return { picture, warnings: [toWarning(one, finish)] }
  }
  throw new CaptureError('TOO_LARGE', `the picture does not fit into ${maxBytes} bytes (image_max_bytes)`)
}

function toWarning({ quality, size, colors }: Try, { format, quality: requested = 90 }: Finish): string {
  const how = format === 'png' ? [`${colors} colors`] : [`quality ${Math.round(requested * quality)}`]
  return `to fit into image_max_bytes: ${[...how, ...(size < 1 ? [`${Math.round(size * 100)} % of the size`] : [])].join(', ')}`
}

async function make(master: Buffer, finish: Finish, one: Try): Promise<Buffer> {
  const { processing } = finish
  let shape = () => reshape(sharp(master, { limitInputPixels: false }), finish)
  if (one.size < 1) {
    // Needs a second pass, because the library allows only one resize per pipeline.
    const whole = await shape().png({ compressionLevel: 1 }).toBuffer({ resolveWithObject: true })
    const width = Math.max(1, Math.round(whole.info.width * one.size))
    shape = () => sharp(whole.data, { limitInputPixels: false }).resize({ width })
  }
  const quality = Math.round((finish.quality ?? 100) * one.quality)
  const colors = processing.paletteColors || one.colors
  return encodeAs(shape, { ...finish, quality }, colors)
}

/** Trims, resizes, converts to grayscale, pads and fills, in this order. */
function reshape(picture: Sharp, { format, processing }: Finish): Sharp {
  const { trimThreshold, resize, grayscale, padding, background } = processing
  let shaped = trimThreshold === undefined ? picture : picture.trim({ threshold: trimThreshold })
  if (resize) shaped = shaped.resize(toResize(resize, background))
  if (grayscale) shaped = shaped.grayscale()
  if (padding > 0) shaped = shaped.extend({ top: padding, bottom: padding, left: padding, right: padding, background })
  return format === 'jpeg' ? shaped.flatten({ background }) : shaped
}

const toResize = ({ width, height, fit, position, upscale }: ResizePlan, background: ProcessingPlan['background']) => ({
  ...(width === undefined ? {} : { width }),
  ...(height === undefined ? {} : { height }),
  fit,
  position,
  background,
  withoutEnlargement: !upscale,
})

/**
 * AVIF effort. From 4 on, encoding takes five times as long and files are a tenth smaller. Effort 1 takes two thirds of the time, but files are a
 * twentieth larger and have 0.3 dB more noise.
 */
const AVIF_EFFORT = 2

async function encodeAs(shape: () => Sharp, { format, quality = 90, fastPng, processing }: Finish, colors: number): Promise<Buffer> {
  const { lossless, progressive } = processing
  switch (format) {
    case 'png':
      return shape()
        .png({
          compressionLevel: fastPng ? 3 : 9,
          adaptiveFiltering: !fastPng,
          progressive,
          ...(colors > 0 ? { palette: true, colors } : {}),
        })
        .toBuffer()
    case 'jpeg':
      return shape()
        .jpeg({ quality: clampQuality(quality), progressive, optimiseCoding: progressive })
        .toBuffer()
    case 'avif':
      return shape()
        .avif({ quality: clampQuality(quality), lossless, effort: AVIF_EFFORT })
        .toBuffer()
    case 'webp':
      if (lossless) return shape().webp({ lossless, effort: 1 }).toBuffer()
      return (await encodeWebp(shape, quality)).picture
  }
}

/** Height limit of a thumbnail, which every format allows. */
const MAX_THUMBNAIL_HEIGHT = 16_383

/** Creates the thumbnail: with both sides given, the top part at full width; else the whole image. Never enlarges. */
export async function makeThumbnail(picture: Buffer, { width, height, format }: ThumbnailPlan): Promise<Buffer> {
  const source = () => sharp(picture, { limitInputPixels: false })
  const small = source().resize({
    ...(await thumbnailSides(source(), width, height)),
    fit: 'cover',
    position: 'top',
    withoutEnlargement: true,
  })
  switch (format) {
    case 'png':
      return small.png().toBuffer()
    case 'jpeg':
      return small.flatten({ background: '#ffffff' }).jpeg({ quality: 85 }).toBuffer()
    case 'webp':
      return small.webp({ quality: 85, effort: 2 }).toBuffer()
  }
}

async function thumbnailSides(
  picture: Sharp,
  width: number | undefined,
  height: number | undefined,
): Promise<{ width?: number; height?: number }> {
  if (width === undefined) return height === undefined ? {} : { height }
  if (height !== undefined) return { width, height }
  const whole = await picture.metadata()
  return whole.height * (width / whole.width) > MAX_THUMBNAIL_HEIGHT ? { width, height: MAX_THUMBNAIL_HEIGHT } : { width }
}
