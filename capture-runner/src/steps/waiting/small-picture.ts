import { callInPage } from '../../page/call.ts'
import type { WindowShare } from '../../page/functions.ts'
import sharp from '../../picture/library.ts'
import { abortable, awaitResponse } from '../../runtime/race.ts'
import type { Work } from '../step.ts'

/** Width to which screenshots are scaled for the comparison. A digit of a heading is larger than one pixel of it. */
const WIDTH = 480
/** Tolerated difference of a color channel. A slow fade of a pale color changes by two levels in 100 ms. */
const LEVELS = 1
/** Tolerated number of pixels that differ more. */
const PIXELS = 8
/** How far a moving area affects the scaled picture around it, in pixels. */
const BLUR_PIXELS = 3

/** How far an area may reach beyond its element, as a share of the width of the window. */
export const AREA_TOLERANCE = BLUR_PIXELS / WIDTH

/** A decoded image. */
export interface Raster {
  data: Uint8Array
  width: number
  height: number
  channels: number
}

/** Takes a quick screenshot of the window. It is lossless, because compression would hide slow fades and blur moving areas. */
export async function takeSmallPicture({ tab, clock, signal }: Work): Promise<string> {
  const picture = { format: 'png', optimizeForSpeed: true } as const
  const drawn = await clock?.draw(picture, signal)
  if (drawn) return drawn.toString('base64')
  const shot = awaitResponse(tab.session.send('Page.captureScreenshot', picture), signal)
  const { data } = await (clock?.whileDrawing(shot, signal) ?? shot)
  return data
}

/** Whether two screenshots show the same, except for areas that always move, and for elements that the comparison ignores. */
export const isSamePicture = async (work: Work, first: string, second: string): Promise<boolean> =>
  (await findMoved(work, first, second)).moved.length === 0

/** Where two screenshots differ. */
export interface Moved {
  /** Areas that differ, without those that always move, and without elements that the comparison ignores. Empty: they show the same. */
  moved: WindowShare[]
  /** True if they differ only in elements that moved in the last run of the schedule. */
  isKnown: boolean
}

/** Finds where two screenshots differ. */
export async function findMoved(work: Work, first: string, second: string): Promise<Moved> {
  if (first === second) return { moved: [], isKnown: true }
  const { comparison, movingElements = [] } = work.plan
  const [always, ignored, known, ...rasters] = await Promise.all([
    callInPage(work, 'findMovingAreas'),
    comparison.ignoredSelectors.length > 0 ? callInPage(work, 'findAreas', comparison.ignoredSelectors) : [],
    movingElements.length > 0 ? callInPage(work, 'findAreas', movingElements) : [],
    abortable(shrink(first), work.signal),
    abortable(shrink(second), work.signal),
  ])
  const without = [...always, ...ignored]
  const moved = findDifferentAreas(...rasters, without)
  const unknown = known.length === 0 || moved.length === 0 ? moved : findDifferentAreas(...rasters, [...without, ...known])
  return { moved, isKnown: unknown.length === 0 }
}

/** Areas in which two decoded images differ. Empty: they show the same. */
export function findDifferentAreas(first: Raster, second: Raster, ignored: readonly WindowShare[]): WindowShare[] {
  if (first.width !== second.width || first.height !== second.height) return [{ left: 0, top: 0, right: 1, bottom: 1 }]
  const { width, height, channels } = first
  const isIgnored = (x: number, y: number): boolean =>
    ignored.some(
      ({ left, top, right, bottom }) =>
        x >= left * width - BLUR_PIXELS &&
        x <= right * width + BLUR_PIXELS - 1 &&
        y >= top * height - BLUR_PIXELS &&
        y <= bottom * height + BLUR_PIXELS - 1,
    )
  let different = 0
  const boxes: WindowShare[] = []
  for (let at = 0; at < first.data.length; at += channels) {
    if (!isPixelDifferent(first.data, second.data, at, channels)) continue
    const [x, y] = [(at / channels) % width, Math.floor(at / channels / width)]
    if (isIgnored(x, y)) continue
    different++
    addPixel(boxes, x, y)
  }
  if (different <= PIXELS) return []
  return mergeAreas(boxes, GAP_PIXELS).map(({ left, top, right, bottom }) => ({
    ...{ left: left / width, top: top / height, right: (right + 1) / width, bottom: (bottom + 1) / height },
  }))
}

/** Pixels at most this far apart belong to one area. */
const GAP_PIXELS = 8
/** Areas of one pair of pictures. More are merged into one. */
const MAX_AREAS = 32

const isNear = (one: WindowShare, other: WindowShare, gap: number): boolean =>
  one.left - gap <= other.right && other.left - gap <= one.right && one.top - gap <= other.bottom && other.top - gap <= one.bottom

const unite = (one: WindowShare, other: WindowShare): WindowShare => ({
  left: Math.min(one.left, other.left),
  top: Math.min(one.top, other.top),
  right: Math.max(one.right, other.right),
  bottom: Math.max(one.bottom, other.bottom),
})

function addPixel(boxes: WindowShare[], x: number, y: number): void {
  const pixel = { left: x, top: y, right: x, bottom: y }
  const index = boxes.length >= MAX_AREAS ? 0 : boxes.findIndex((box) => isNear(box, pixel, GAP_PIXELS))
  const near = boxes[index]
  if (near) boxes[index] = unite(near, pixel)
  else boxes.push(pixel)
}

/** Merges areas until none touches another one, or is at most `gap` away. */
export function mergeAreas(areas: readonly WindowShare[], gap = 0): WindowShare[] {
  const merged: WindowShare[] = []
  for (const area of areas) {
    let whole = area
    const findNear = () => merged.findIndex((one) => isNear(one, whole, gap))
    for (let index = findNear(); index !== -1; index = findNear()) whole = unite(whole, merged.splice(index, 1)[0]!)
    merged.push(whole)
  }
  return merged
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
