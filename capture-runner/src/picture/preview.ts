import type { PreviewPlaces, PreviewSlice } from '@tintype/crds/kinds/page-notes'
import type { PreviewPlan } from '../plan/preview.ts'
import sharp from './library.ts'
import { countSlices, planSlices, type SlicePlan } from './slices.ts'
import { sizeOf } from './stitch.ts'

// Makes the preview of a picture: slices of a small copy, one behind the other in one file.

/** Tried one after the other until a slice has few enough bytes. Below the last, small texts are hard to read. */
const QUALITIES = [80, 65, 50, 35, 20]
/** How much too large a slice is if only the lowest quality can help. */
const FAR = 2.5
const CHANNELS = 3

/** The file of a preview, and what is where in it. */
export interface Preview {
  file: Buffer
  places: PreviewPlaces
}

/** @param scale device pixels of the picture for each CSS pixel */
export async function makePreview(picture: Buffer, scale: number, plan: PreviewPlan): Promise<Preview> {
  const original = { ...(await sizeOf(picture)), scale }
  const slicing = planSlices(original, plan)
  const { height, sliceHeight, overlap, sliceCount } = slicing
  const rows = sliceCount > plan.maxSlices ? Math.min(height, plan.maxSlices * (sliceHeight - overlap) + overlap) : height
  const small = await shrink(picture, original.height, rows, slicing)
  const parts: Buffer[] = []
  const slices: PreviewSlice[] = []
  let [top, end, offset] = [0, 0, 0]
  while (end < rows && slices.length < plan.maxSlices) {
    const slice = await encodeSlice({ ...small, top, height: Math.min(sliceHeight, rows - top) }, plan)
    const { length } = slice.bytes
    parts.push(slice.bytes)
    slices.push({ offset, length, width: slicing.width, height: slice.height, y: Math.round(top / slicing.scale) })
    offset += length
    end = top + slice.height
    top = end - Math.min(overlap, Math.floor(slice.height / 2))
  }
  const isWhole = end === height
  const left = isWhole ? 0 : countSlices(height - top, sliceHeight, overlap)
  const toCss = (pixels: number): number => Math.round(pixels / scale)
  return {
    file: Buffer.concat(parts),
    places: {
      scale: Math.round(slicing.scale * 10_000) / 10_000,
      width: toCss(original.width),
      height: toCss(original.height),
      shownWidth: toCss(slicing.shownWidth),
      shownHeight: isWhole ? toCss(original.height) : Math.round(end / slicing.scale),
      sliceCount: slices.length + left,
      slices,
    },
  }
}

/** Decoded rows: red, green and blue of each pixel. */
interface Rows {
  pixels: Buffer
  width: number
}

/** Decodes and scales the upper part of a picture once, because each decoding starts at the top. @param rows of the scaled picture */
async function shrink(picture: Buffer, height: number, rows: number, { width, shownWidth, height: whole }: SlicePlan): Promise<Rows> {
  const upper = Math.min(height, Math.max(1, Math.round((rows * height) / whole)))
  const pixels = await sharp(picture, { limitInputPixels: false, sequentialRead: true })
    .extract({ left: 0, top: 0, width: shownWidth, height: upper })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .resize({ width, height: rows, fit: 'fill' })
    .raw()
    .toBuffer()
  return { pixels, width }
}

/** Encodes rows within the limit of bytes: at a lower quality if needed, or fewer of them. */
async function encodeSlice(
  { pixels, width, top, height }: Rows & { top: number; height: number },
  { format, maxBytes }: PreviewPlan,
): Promise<{ bytes: Buffer; height: number }> {
  const rowBytes = width * CHANNELS
  for (let count = height; ; count = Math.ceil(count / 2)) {
    const rows = pixels.subarray(top * rowBytes, (top + count) * rowBytes)
    let isFar = false
    for (const quality of QUALITIES) {
      if (isFar && quality !== QUALITIES.at(-1)) continue
      const open = sharp(rows, { raw: { width, height: count, channels: CHANNELS } })
      const bytes = await (format === 'webp' ? open.webp({ quality, effort: 2 }) : open.jpeg({ quality })).toBuffer()
      if (bytes.length <= maxBytes) return { bytes, height: count }
      isFar = bytes.length > maxBytes * FAR
    }
  }
}
