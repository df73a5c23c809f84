import { callInPage } from '../../page/call.ts'
import type { WindowShare } from '../../page/functions.ts'
import sharp from '../../picture/library.ts'
import { abortable, awaitResponse } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** Width to which screenshots are scaled for the comparison. A digit of a heading is larger than one pixel of it. */
const WIDTH = 480
/** Tolerated difference of a color channel, and tolerated number of other pixels: enough for compression artifacts and antialiasing. */
const LEVELS = 24
const PIXELS = 8

/** A decoded image. */
export interface Raster {
  data: Uint8Array
  width: number
  height: number
  channels: number
}

/** Takes a quick, lossy screenshot of the window. */
export async function takeSmallPicture({ tab, clock, signal }: Work): Promise<string> {
  const shot = awaitResponse(tab.session.send('Page.captureScreenshot', { format: 'jpeg', quality: 60, optimizeForSpeed: true }), signal)
  const { data } = await (clock?.whileDrawing(shot, signal) ?? shot)
  return data
}

/** Whether two screenshots show the same, except for areas that always move. */
export async function isSamePicture(work: Work, first: string, second: string): Promise<boolean> {
  if (first === second) return true
  const [movingAreas, ...rasters] = await Promise.all([
    callInPage(work, 'findMovingAreas'),
    abortable(shrink(first), work.signal),
    abortable(shrink(second), work.signal),
  ])
  return isSameRaster(...rasters, movingAreas)
}

/** Compares two decoded images. */
export function isSameRaster(first: Raster, second: Raster, ignored: readonly WindowShare[]): boolean {
  if (first.width !== second.width || first.height !== second.height) return false
  const { width, height, channels } = first
  const isIgnored = (x: number, y: number): boolean =>
    ignored.some(
      ({ left, top, right, bottom }) => x >= left * width - 1 && x <= right * width && y >= top * height - 1 && y <= bottom * height,
    )
  let different = 0
  for (let at = 0; at < first.data.length; at += channels) {
    if (!isPixelDifferent(first.data, second.data, at, channels)) continue
    const pixel = at / channels
    if (!isIgnored(pixel % width, Math.floor(pixel / width)) && ++different > PIXELS) return false
  }
  return true
}

function isPixelDifferent(first: Uint8Array, second: Uint8Array, at: number, channels: number): boolean {
  for (let channel = at; channel < at + channels; channel++) {
    if (Math.abs((first[channel] ?? 0) - (second[channel] ?? 0)) > LEVELS) return true
  }
  return false
}

async function shrink(picture: string): Promise<Raster> {
  const shrunk = sharp(Buffer.from(picture, 'base64')).resize({ width: WIDTH, withoutEnlargement: true })
  const { data, info } = await shrunk.raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, height: info.height, channels: info.channels }
}
