import { thumbnailFormat } from '@tintype/crds/options/artifacts'
import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { isMoving } from '@tintype/crds/options/output/formats'
import { type Color, parseColor } from './picture.ts'

/** A resize, in pixels. */
export interface ResizePlan {
  width?: number
  height?: number
  fit: EffectiveOptions['imageFit']
  position: EffectiveOptions['imagePosition']
  upscale: boolean
}

/** Processing after the screenshot, in this order. */
export interface ProcessingPlan {
  /** Color difference that still counts as border. */
  trimThreshold?: number
  resize?: ResizePlan
  grayscale: boolean
  /** Pixels. */
  padding: number
  background: Color
  lossless: boolean
  progressive: boolean
  /** 0: no palette. */
  paletteColors: number
  maxBytes?: number
}

/** A thumbnail, in pixels. */
export interface ThumbnailPlan {
  width?: number
  height?: number
  format: 'png' | 'jpeg' | 'webp'
}

/** Image processing after the screenshot. */
export interface ImageProcessingPlan {
  /** Absent: the browser's file is the result. */
  processing?: ProcessingPlan
  thumbnail?: ThumbnailPlan
  /** False: spend time to make a smaller PNG. */
  fastPng: boolean
}

/** Builds the plan for image processing. */
export function buildImageProcessing(options: EffectiveOptions): ImageProcessingPlan {
  const fastPng = options.optimizeForSpeed
  if (options.format === 'pdf' || isMoving(options.format)) return { fastPng }
  const processing = buildProcessing(options)
  const isWanted = options.format === 'avif' || JSON.stringify(processing) !== JSON.stringify(nothingOf(processing))
  const thumbnail = buildThumbnail(options)
  return { fastPng, ...(isWanted ? { processing } : {}), ...(thumbnail ? { thumbnail } : {}) }
}

function buildProcessing(options: EffectiveOptions): ProcessingPlan {
  const { format, imageWidth: width, imageHeight: height, imageMaxBytes: maxBytes } = options
  const isResized = width !== undefined || height !== undefined
  return {
    ...(options.imageTrim ? { trimThreshold: options.imageTrimThreshold } : {}),
    ...(isResized ? { resize: { ...sizeOf(width, height), ...howOf(options) } } : {}),
    grayscale: options.imageGrayscale,
    padding: options.imagePadding,
    background: parseColor(options.imageBackground),
    lossless: options.imageLossless && (format === 'webp' || format === 'avif'),
    progressive: options.imageProgressive && (format === 'jpeg' || format === 'png'),
    paletteColors: format === 'png' ? options.imagePaletteColors : 0,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  }
}

const howOf = ({ imageFit, imagePosition, imageUpscale }: EffectiveOptions) => ({
  fit: imageFit,
  position: imagePosition,
  upscale: imageUpscale,
})

const nothingOf = ({ background }: ProcessingPlan): ProcessingPlan => ({
  grayscale: false,
  padding: 0,
  background,
  lossless: false,
  progressive: false,
  paletteColors: 0,
})

function buildThumbnail(options: EffectiveOptions): ThumbnailPlan | undefined {
  const format = thumbnailFormat(options)
  return format && { ...sizeOf(options.thumbnailWidth, options.thumbnailHeight), format }
}

const sizeOf = (width: number | undefined, height: number | undefined) => ({
  ...(width === undefined ? {} : { width }),
  ...(height === undefined ? {} : { height }),
})
