import sharp from 'sharp'

/** A decoded picture. Tests compare its pixels, not only the existence of a file. */
export type Picture = Awaited<ReturnType<typeof decode>>

/** Decodes a png, jpeg or webp completely. */
export async function decode(file: Buffer) {
  const image = sharp(file, { limitInputPixels: false })
  const { format = '', hasAlpha = false } = await image.metadata()
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  /** Red, green, blue, alpha of one pixel. */
  const at = (x: number, y: number): [number, number, number, number] => {
    const offset = (y * info.width + x) * info.channels
    return [data[offset]!, data[offset + 1]!, data[offset + 2]!, data[offset + 3]!]
  }
  return { format, width: info.width, height: info.height, hasAlpha, at }
}

/** True when each channel differs by at most `tolerance` (lossy formats change colors slightly). */
export const isNear = (pixel: readonly number[], wanted: readonly number[], tolerance = 3): boolean =>
  wanted.every((value, i) => Math.abs((pixel[i] ?? Number.NaN) - value) <= tolerance)
