import sharp from 'sharp'

/** A decoded image with access to its pixels. */
export type Pixels = Awaited<ReturnType<typeof decode>>

/** Decodes an image. */
export async function decode(picture: Buffer) {
  const { format } = await sharp(picture, { limitInputPixels: false }).metadata()
  const { data, info } = await sharp(picture, { limitInputPixels: false }).raw().toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  return {
    format,
    width,
    height,
    size: [width, height] as [width: number, height: number],
    channels,
    /** The color at a point, `[red, green, blue]` or with alpha. */
    at: (x: number, y: number): number[] => {
      if (x < 0 || y < 0 || x >= width || y >= height) throw new Error(`${x},${y} is not in a picture of ${width} × ${height}`)
      const start = (y * width + x) * channels
      return [...data.subarray(start, start + channels)]
    },
  }
}

/** True if no channel differs by more than `tolerance`, which lossy formats need. */
export const isNear = (color: readonly number[], wanted: readonly number[], tolerance = 6): boolean =>
  wanted.every((value, channel) => Math.abs((color[channel] ?? Number.NaN) - value) <= tolerance)

export const RED = [255, 0, 0]
export const GREEN = [0, 255, 0]
export const BLUE = [0, 0, 255]
export const WHITE = [255, 255, 255]
