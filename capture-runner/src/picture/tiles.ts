import { type ImageFormat, type PictureLimits, pictureLimits } from '@tintype/crds/options/output/formats'
import type { ProcessingPlan, ResizePlan } from '../plan/image-processing.ts'
import type { PageSize, Tile } from '../plan/picture.ts'
import type { CapturePlan } from '../plan/plan.ts'
import { CaptureError } from '../runtime/errors.ts'

// Determines the part of the page to capture and how to split it into tiles. Measured: one screenshot of 25,000 rows needs 1.3 GB in the browser; tiles
// need 0.7 GB at the same speed.

/** Limits of a single screenshot, in device pixels of height (by default, and with full_page_algorithm `native`) and of width. */
const NATIVE_HEIGHT = 8_192
const MAX_NATIVE_HEIGHT = 16_384
const NATIVE_WIDTH = 4_096
/** Maximum number of device pixels of a tile. */
const TILE_PIXELS = 4_096 * 4_096
/** Maximum height of a tile in device pixels, unless the client sets one. Each screenshot has a fixed cost; a page of 25,000 rows needs three. */
const TILE_HEIGHT = 8_400
/** Tile borders must lie on whole device pixels. This multiple is enough for any scale with three decimals, and for phones that show a page smaller. */
const MAX_STEP = 4_000

/** The tiles of the image, top first. */
export interface Cut {
  tiles: readonly Tile[]
  /** Device pixels per CSS pixel. */
  scale: number
  /** True if the image is exactly the window, so that no clip is needed. */
  isWindow: boolean
  truncated: boolean
  warnings: readonly string[]
}

type CutPlan = Pick<CapturePlan, 'options' | 'context' | 'picture' | 'processing'>

/**
 * Determines the tiles of the page.
 * @param region absent: the whole page or the window, by the plan
 * @throws CaptureError TOO_LARGE if the format does not allow the width, or if the page is too tall and overflow must fail
 */
export function cutPage(plan: CutPlan, page: PageSize, region?: Tile): Cut {
  const { context, options } = plan
  const { fullPage, format } = plan.picture
  const { width, height: viewportHeight } = context.viewport
  const window = windowAt({ width, height: context.shownHeight ?? viewportHeight }, page)
  const area = region ?? (fullPage ? wholePage(window.width, page, options.fullPageFullWidth) : window)
  // Elements are captured at their own size.
  const shownScale = context.deviceScaleFactor * (region ? 1 : (page.scale ?? 1))
  const fitted = fit(area, shownScale, plan)
  const { height, scale } = fitted
  const pieces = { ...area, height }
  const isNative = isTakenAtOnce(pieces, scale, plan)
  const warnings = [...fitted.warnings]
  if (fullPage && options.fullPageAlgorithm === 'native' && !isNative)
    warnings.push(`full_page_algorithm is stitch: the page is too tall for one shot`)
  const isWhole = fullPage && (area.width !== window.width || area.height !== window.height)
  const isUnscaled = context.deviceScaleFactor === 1 && context.shownHeight === undefined && scale === shownScale
  const isWindow = isNative && !isWhole && !region && height === area.height && isUnscaled && format !== 'pdf'
  return {
    tiles: isNative ? [pieces] : toTiles(pieces, scale, isInSections(plan) ? options.fullPageSectionHeight : TILE_HEIGHT),
    scale,
    isWindow,
    truncated: height < area.height,
    warnings,
  }
}

/** True if the window contains the whole tile. */
export function isInWindow({ x, y, width, height }: Tile, viewport: { width: number; height: number }, page: PageSize): boolean {
  const window = windowAt(viewport, page)
  return x >= window.x && y >= window.y && x + width <= window.x + window.width && y + height <= window.y + window.height
}

const wholePage = (windowWidth: number, { contentWidth, contentHeight, startX = 0 }: PageSize, isFullWidth: boolean): Tile => ({
  x: isFullWidth ? 0 : startX,
  y: 0,
  width: isFullWidth ? Math.max(windowWidth, contentWidth) : windowWidth,
  height: Math.max(contentHeight, 1),
})

interface Fitted {
  height: number
  scale: number
  warnings: string[]
}

/** Limits of the file, which also has the padding unless the picture is resized before. */
interface CutLimits extends PictureLimits {
  padding: number
}

const NO_LIMITS: CutLimits = { side: Number.POSITIVE_INFINITY, pixels: Number.POSITIVE_INFINITY, padding: 0 }

function limitsOf({ picture: { format }, processing }: CutPlan): CutLimits {
  if (format === 'pdf') return NO_LIMITS
  const { resize, padding = 0 } = processing ?? {}
  return { ...pictureLimits(format, processing !== undefined && needsWhole(processing)), padding: resize ? 0 : padding }
}

/** Cuts the area or reduces the scale, as the client or the format requires. */
function fit(area: Tile, scale: number, plan: CutPlan): Fitted {
  const { format, fullPage } = plan.picture
  const { fullPageOverflow: overflow, fullPageMaxHeight } = plan.options
  const limits = limitsOf(plan)
  const wanted = fullPage ? Math.min(area.height, fullPageMaxHeight) : area.height
  const possible = maxHeight(format, limits, area.width, scale)
  const height = Math.min(wanted, possible)
  if (height === area.height) return { height, scale, warnings: [] }
  const why = wanted > possible ? `${format} and the service allow no more` : 'full_page_max_height'
  if (overflow === 'fail') throw new CaptureError('TOO_LARGE', `the page is ${area.height} pixels tall: ${why}`)
  if (overflow === 'scale') return shrink(area, scale, height, limits.pixels)
  const warnings = [
    ...(height < wanted ? [`the picture ends at ${Math.round(height * scale)} pixels: ${why}`] : []),
    ...(wanted < area.height ? [`the page is ${area.height} pixels tall: the picture ends at full_page_max_height`] : []),
  ]
  return { height, scale, warnings }
}

/** Scales the whole area to the height that a part of it would have had. Uses three decimals, so that tiles end on whole pixels. */
function shrink(area: Tile, scale: number, height: number, maxPixels: number): Fitted {
  const factor = Math.min(height / area.height, Math.sqrt(maxPixels / (area.width * area.height * scale ** 2)))
  const smaller = Math.max(0.001, Math.floor(scale * factor * 1_000) / 1_000)
  return {
    height: area.height,
    scale: smaller,
    warnings: [`the picture is ${Math.round((smaller / scale) * 100)} % of its size: the page is ${area.height} pixels tall`],
  }
}

function maxHeight(format: string, { side, pixels, padding }: CutLimits, width: number, scale: number): number {
  const deviceWidth = Math.round(width * scale) + 2 * padding
  if (deviceWidth > side) throw new CaptureError('TOO_LARGE', `a ${format} picture is at most ${side} pixels wide, this one ${deviceWidth}`)
  return Math.floor((Math.min(side, pixels / (width * scale + 2 * padding)) - 2 * padding) / scale)
}

function isTakenAtOnce({ width, height }: Tile, scale: number, plan: CutPlan): boolean {
  const { fullPageAlgorithm, fullPageSectionHeight } = plan.options
  const isNative = plan.picture.fullPage && fullPageAlgorithm === 'native'
  const limit = isInSections(plan) ? fullPageSectionHeight : isNative ? MAX_NATIVE_HEIGHT : NATIVE_HEIGHT
  return height * scale <= limit && width * height * scale ** 2 <= limit * NATIVE_WIDTH
}

/** Whether to split by the client's section height. Fixed elements that must appear in each section need it. */
const isInSections = ({ options, picture }: CutPlan): boolean =>
  picture.fullPage && (options.fullPageAlgorithm === 'stitch' || options.fullPageFixedElements === 'keep')

function toTiles({ x, y, width, height }: Tile, scale: number, most: number): Tile[] {
  const deviceHeight = Math.min(most, TILE_PIXELS / (width * scale))
  const step = wholeStep(scale)
  const tileHeight = Math.max(step, Math.floor(deviceHeight / scale / step) * step)
  return Array.from({ length: Math.ceil(height / tileHeight) }, (_, index) => {
    const top = index * tileHeight
    return { x, y: y + top, width, height: Math.min(tileHeight, height - top) }
  })
}

/** The smallest number of CSS pixels that is a whole number of device pixels; 1 if there is none. */
function wholeStep(scale: number): number {
  for (let step = 1; step <= MAX_STEP; step++) {
    if (Math.abs(step * scale - Math.round(step * scale)) < 1e-6) return step
  }
  return 1
}

// Computes regions of the page. Pure functions, in CSS pixels from the page's top left corner.

/** Tolerated rounding error of whole-pixel boxes. */
const TOLERANCE = 0.01

/** The bounding box of elements with padding, within the page. @param boxes at least one */
export function toRegion(boxes: readonly Tile[], padding: number, { contentWidth, contentHeight }: PageSize): Tile {
  const left = Math.max(0, Math.floor(Math.min(...boxes.map(({ x }) => x)) + TOLERANCE) - padding)
  const top = Math.max(0, Math.floor(Math.min(...boxes.map(({ y }) => y)) + TOLERANCE) - padding)
  const right = Math.ceil(Math.max(...boxes.map(({ x, width }) => x + width)) - TOLERANCE) + padding
  const bottom = Math.ceil(Math.max(...boxes.map(({ y, height }) => y + height)) - TOLERANCE) + padding
  const width = Math.min(right, Math.max(contentWidth, left + 1)) - left
  const height = Math.min(bottom, Math.max(contentHeight, top + 1)) - top
  return { x: left, y: top, width: Math.max(1, width), height: Math.max(1, height) }
}

/** The part of the page that a window shows. */
export const windowAt = ({ width, height }: { width: number; height: number }, { scrollX, scrollY, scale = 1 }: PageSize): Tile => ({
  x: scrollX,
  y: scrollY,
  width: width / scale,
  height: height / scale,
})

/** The part of a region inside the window; undefined if there is none. */
export function withinWindow(region: Tile, viewport: { width: number; height: number }, page: PageSize): Tile | undefined {
  const window = windowAt(viewport, page)
  const x = Math.max(region.x, window.x)
  const y = Math.max(region.y, window.y)
  const width = Math.min(region.x + region.width, window.x + window.width) - x
  const height = Math.min(region.y + region.height, window.y + window.height) - y
  return width > 0 && height > 0 ? { x, y, width, height } : undefined
}

// Computes how large a picture becomes, before it is made. Pure functions.

/** Width and height in pixels. */
interface Size {
  width: number
  height: number
}

/** True if the encoder needs the whole picture in memory, whatever the format. */
const needsWhole = ({ progressive, paletteColors }: ProcessingPlan): boolean => progressive || paletteColors > 0

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
