import type { FileFormat } from '@tintype/crds/options/output/image'
import type { CapturePlan } from '../plan/plan.ts'
import type { PageSize, Tile } from '../plan/region.ts'
import { CaptureError } from '../runtime/errors.ts'

// Which part of the page goes into the picture, and in how many pieces it is taken. Measured: one shot of 25,000 rows takes the browser to
// 1.3 GB, tiles keep it at 0.7 GB at the same speed.

/** Device pixels that one side may have. Chromium answers with an empty picture beyond WebP's. */
const MAX_SIDE: Readonly<Record<FileFormat, number>> = {
  png: Number.POSITIVE_INFINITY,
  jpeg: 65_535,
  webp: 16_383,
  avif: 16_384,
  pdf: Number.POSITIVE_INFINITY,
}
/** Device pixels in one picture. A webp and an avif need all of them in memory at once, some ten and 25 bytes for each; and an avif takes its time. */
const MAX_PIXELS: Readonly<Record<FileFormat, number>> = {
  png: 200_000_000,
  jpeg: 200_000_000,
  webp: 64_000_000,
  avif: 16_000_000,
  pdf: Number.POSITIVE_INFINITY,
}
/** Device pixels of height, and in all, up to which a picture is taken in one shot: by itself, and when the client insists. */
const NATIVE_HEIGHT = 8_192
const MAX_NATIVE_HEIGHT = 16_384
const NATIVE_WIDTH = 4_096
/** Device pixels of a tile, whatever its height. */
const TILE_PIXELS = 4_096 * 4_096
/** Device pixels of a tile's height, unless the client wants sections. Each shot costs something besides its rows: a page of 25,000 takes three. */
const TILE_HEIGHT = 8_400
/** Tile borders lie on whole device pixels: the smallest multiple that does this for any scale of three decimals. */
const MAX_STEP = 1_000

/** The picture in pieces, top first. */
export interface Cut {
  tiles: readonly Tile[]
  /** Device pixels for each CSS pixel. */
  scale: number
  /** True when the picture is exactly the window, pixel for pixel: taken without a clip. */
  isWindow: boolean
  truncated: boolean
  warnings: readonly string[]
}

/**
 * Cuts the picture out of the page.
 * @param region absent: the whole page or the window, as planned
 * @throws CaptureError TOO_LARGE when one row is wider than the format allows, and for any overflow that is to fail
 */
export function cutPage({ context, picture }: Pick<CapturePlan, 'context' | 'picture'>, page: PageSize, region?: Tile): Cut {
  const { fullPage, format } = picture
  const area = region ?? (fullPage ? wholePage(context.viewport.width, page, picture.fullWidth) : windowAt(context.viewport, page))
  const fitted = fit(area, context.deviceScaleFactor, picture)
  const { height, scale } = fitted
  const pieces = { ...area, height }
  const isNative = isTakenAtOnce(pieces, scale, picture)
  const warnings = [...fitted.warnings]
  if (fullPage && picture.algorithm === 'native' && !isNative)
    warnings.push(`full_page_algorithm is stitch: the page is too tall for one shot`)
  const isWhole = fullPage && (area.width !== context.viewport.width || area.height !== context.viewport.height)
  const isWindow = isNative && !isWhole && !region && height === area.height && scale === 1 && format !== 'pdf'
  return {
    tiles: isNative ? [pieces] : toTiles(pieces, scale, isInSections(picture) ? picture.sectionHeight : TILE_HEIGHT),
    scale,
    isWindow,
    truncated: height < area.height,
    warnings,
  }
}

/** True when nothing of the piece lies outside of the window. */
export const isInWindow = ({ x, y, width, height }: Tile, window: { width: number; height: number }, page: PageSize): boolean =>
  x >= page.scrollX && y >= page.scrollY && x + width <= page.scrollX + window.width && y + height <= page.scrollY + window.height

const wholePage = (windowWidth: number, { contentWidth, contentHeight }: PageSize, isFullWidth: boolean): Tile => ({
  x: 0,
  y: 0,
  width: isFullWidth ? Math.max(windowWidth, contentWidth) : windowWidth,
  height: Math.max(contentHeight, 1),
})

const windowAt = ({ width, height }: { width: number; height: number }, { scrollX, scrollY }: PageSize): Tile => ({
  x: scrollX,
  y: scrollY,
  width,
  height,
})

interface Fitted {
  height: number
  scale: number
  warnings: string[]
}

/** Ends the area, or makes its pixels fewer, where the client or the format says so. */
function fit(area: Tile, scale: number, picture: CapturePlan['picture']): Fitted {
  const { format, overflow } = picture
  const asked = picture.fullPage ? Math.min(area.height, picture.maxHeight) : area.height
  const possible = maxHeight(format, area.width, scale)
  const height = Math.min(asked, possible)
  if (height === area.height) return { height, scale, warnings: [] }
  const why = asked > possible ? `${format} and the service allow no more` : 'full_page_max_height'
  if (overflow === 'fail') throw new CaptureError('TOO_LARGE', `the page is ${area.height} pixels tall: ${why}`)
  if (overflow === 'scale') return shrink(area, scale, { height, format })
  const warnings = [
    ...(height < asked ? [`the picture ends at ${Math.round(height * scale)} pixels: ${why}`] : []),
    ...(asked < area.height ? [`the page is ${area.height} pixels tall: the picture ends at full_page_max_height`] : []),
  ]
  return { height, scale, warnings }
}

/** The whole area in as many device pixels of height as a part of it would have had. Three decimals of scale, so that tiles can end on whole pixels. */
function shrink(area: Tile, scale: number, { height, format }: { height: number; format: FileFormat }): Fitted {
  const factor = Math.min(height / area.height, Math.sqrt(MAX_PIXELS[format] / (area.width * area.height * scale ** 2)))
  const smaller = Math.max(0.001, Math.floor(scale * factor * 1_000) / 1_000)
  return {
    height: area.height,
    scale: smaller,
    warnings: [`the picture is ${Math.round((smaller / scale) * 100)} % of its size: the page is ${area.height} pixels tall`],
  }
}

function maxHeight(format: FileFormat, width: number, scale: number): number {
  const side = MAX_SIDE[format]
  const deviceWidth = Math.round(width * scale)
  if (deviceWidth > side) throw new CaptureError('TOO_LARGE', `a ${format} picture is at most ${side} pixels wide, this one ${deviceWidth}`)
  return Math.floor(Math.min(side / scale, MAX_PIXELS[format] / (width * scale ** 2)))
}

function isTakenAtOnce({ width, height }: Tile, scale: number, picture: CapturePlan['picture']): boolean {
  const { fullPage, algorithm, sectionHeight } = picture
  const limit = isInSections(picture) ? sectionHeight : fullPage && algorithm === 'native' ? MAX_NATIVE_HEIGHT : NATIVE_HEIGHT
  return height * scale <= limit && width * height * scale ** 2 <= limit * NATIVE_WIDTH
}

/** Whether the client wants sections. Elements that are to be in each need them. */
const isInSections = ({ fullPage, algorithm, fixedElements }: CapturePlan['picture']): boolean =>
  fullPage && (algorithm === 'stitch' || fixedElements === 'keep')

function toTiles({ x, y, width, height }: Tile, scale: number, most: number): Tile[] {
  const deviceHeight = Math.min(most, TILE_PIXELS / (width * scale))
  const step = wholeStep(scale)
  const tileHeight = Math.max(step, Math.floor(deviceHeight / scale / step) * step)
  return Array.from({ length: Math.ceil(height / tileHeight) }, (_, index) => {
    const top = index * tileHeight
    return { x, y: y + top, width, height: Math.min(tileHeight, height - top) }
  })
}

/** The least number of CSS pixels that is a whole number of device pixels; 1 where there is none. */
function wholeStep(scale: number): number {
  for (let step = 1; step <= MAX_STEP; step++) {
    if (Math.abs(step * scale - Math.round(step * scale)) < 1e-6) return step
  }
  return 1
}
