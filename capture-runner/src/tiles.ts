import type { ImageFormat } from '@tintype/crds/capture-options/image'
import { CaptureError } from './errors.ts'
import type { CapturePlan } from './plan.ts'

// Which part of the page goes into the picture, and in how many pieces it is taken. Measured: one shot of 25,000 rows takes the browser to
// 1.3 GB, tiles keep it at 0.7 GB at the same speed.

/** Device pixels that one side may have. Chromium answers with an empty picture beyond WebP's. */
const MAX_SIDE: Readonly<Record<ImageFormat, number>> = { png: Number.POSITIVE_INFINITY, jpeg: 65_535, webp: 16_383 }
/** Device pixels in one picture. A webp is the only one that needs all of them in memory at once, some ten bytes for each. */
const MAX_PIXELS: Readonly<Record<ImageFormat, number>> = { png: 200_000_000, jpeg: 200_000_000, webp: 64_000_000 }
/** Device pixels of height, and in all, up to which a picture is taken in one shot. */
const NATIVE_HEIGHT = 8_192
const NATIVE_PIXELS = NATIVE_HEIGHT * 4_096
/** Device pixels of a tile's height, and in all. */
const TILE_HEIGHT = 4_096
const TILE_PIXELS = TILE_HEIGHT * 4_096
/** Tile borders lie on whole device pixels: the smallest multiple that does this for any scale of three decimals. */
const MAX_STEP = 1_000

/** A piece of the page in CSS pixels, from the page's top left corner. */
export interface Tile {
  x: number
  y: number
  width: number
  height: number
}

/** What was measured on the page, in CSS pixels. */
export interface PageSize {
  /** Height of the whole page. */
  contentHeight: number
  /** Where the window is scrolled to. */
  scrollX: number
  scrollY: number
}

/** The picture in pieces, top first. */
export interface Cut {
  tiles: readonly Tile[]
  /** True when the picture is exactly the window, pixel for pixel: taken without a clip. */
  isWindow: boolean
  truncated: boolean
  warnings: readonly string[]
}

/**
 * Cuts the picture out of the page.
 * @throws CaptureError TOO_LARGE when one row is wider than the format allows
 */
export function cutPage({ context, picture }: Pick<CapturePlan, 'context' | 'picture'>, page: PageSize): Cut {
  const { width, height: windowHeight } = context.viewport
  const { deviceScaleFactor: scale } = context
  const wanted = picture.fullPage ? Math.max(page.contentHeight, 1) : windowHeight
  const asked = picture.fullPage ? Math.min(wanted, picture.maxHeight) : wanted
  const possible = maxHeight(picture.format, width, scale)
  const height = Math.min(asked, possible)
  const [x, y] = picture.fullPage ? [0, 0] : [page.scrollX, page.scrollY]
  const warnings = [
    ...(height < asked
      ? [`the picture ends at ${Math.round(height * scale)} pixels: ${picture.format} and the service allow no more`]
      : []),
    ...(asked < wanted ? [`the page is ${wanted} pixels tall: the picture ends at full_page_max_height`] : []),
  ]
  const isNative = height * scale <= NATIVE_HEIGHT && width * height * scale ** 2 <= NATIVE_PIXELS
  return {
    tiles: isNative ? [{ x, y, width, height }] : toTiles({ x, y, width, height }, scale),
    isWindow: isNative && !picture.fullPage && height === windowHeight && scale === 1,
    truncated: height < wanted,
    warnings,
  }
}

function maxHeight(format: ImageFormat, width: number, scale: number): number {
  const side = MAX_SIDE[format]
  const deviceWidth = Math.round(width * scale)
  if (deviceWidth > side) throw new CaptureError('TOO_LARGE', `a ${format} picture is at most ${side} pixels wide, this one ${deviceWidth}`)
  return Math.floor(Math.min(side / scale, MAX_PIXELS[format] / (width * scale ** 2)))
}

function toTiles({ x, y, width, height }: Tile, scale: number): Tile[] {
  const deviceHeight = Math.min(TILE_HEIGHT, TILE_PIXELS / (width * scale))
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
