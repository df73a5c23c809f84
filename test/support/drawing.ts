import { allocateRows, CHANNELS, type DecodedPicture } from '../../capture-runner/src/comparison/decoded-picture.ts'
import sharp from '../../capture-runner/src/picture/library.ts'

// Pictures for tests, drawn with smooth edges as a browser draws them: boxes, rings and letters made of strokes.

export type Color = readonly [red: number, green: number, blue: number]

export const WHITE: Color = [255, 255, 255]
export const BLACK: Color = [20, 20, 20]

interface Patch {
  x: number
  y: number
  width: number
  height: number
  color: Color
  /** Share of the color in each pixel of the patch, 0 to 1. */
  shares: Float32Array
}

interface Letter {
  left: number
  top: number
  size: number
  color: Color
}

type Point = readonly [x: number, y: number]

const arc = (cx: number, cy: number, rx: number, ry: number, from: number, to: number): Point[] =>
  Array.from({ length: 13 }, (_, n) => {
    const angle = ((from + ((to - from) * n) / 12) * Math.PI) / 180
    return [cx + rx * Math.cos(angle), cy + ry * Math.sin(angle)] as const
  })

/** A stroke through points, whose x and y follow each other. */
const line = (...coordinates: number[]): Point[] =>
  Array.from({ length: coordinates.length / 2 }, (_, n) => [coordinates[2 * n]!, coordinates[2 * n + 1]!] as const)

/** Strokes of each letter in a box of 0.6 × 1. */
const LETTERS: Readonly<Record<string, readonly (readonly Point[])[]>> = {
  '0': [arc(0.3, 0.5, 0.25, 0.45, 0, 360)],
  '1': [line(0.1, 0.2, 0.3, 0.05, 0.3, 0.95)],
  '2': [[...arc(0.3, 0.28, 0.23, 0.23, 190, 380), [0.07, 0.95], [0.55, 0.95]]],
  '3': [[...arc(0.28, 0.27, 0.22, 0.22, 210, 450)], [...arc(0.28, 0.71, 0.25, 0.24, 270, 510)]],
  '4': [line(0.42, 0.95, 0.42, 0.05, 0.05, 0.65, 0.57, 0.65)],
  '5': [[[0.5, 0.05], [0.12, 0.05], [0.1, 0.45], ...arc(0.28, 0.66, 0.26, 0.28, 240, 500)]],
  '6': [arc(0.3, 0.68, 0.24, 0.27, 0, 360), line(0.06, 0.66, 0.2, 0.2, 0.45, 0.05)],
  '7': [line(0.06, 0.05, 0.54, 0.05, 0.22, 0.95)],
  '8': [arc(0.3, 0.27, 0.21, 0.22, 0, 360), arc(0.3, 0.72, 0.25, 0.23, 0, 360)],
  '9': [arc(0.3, 0.32, 0.24, 0.27, 0, 360), line(0.54, 0.34, 0.4, 0.8, 0.15, 0.95)],
  A: [line(0.03, 0.95, 0.3, 0.05, 0.57, 0.95), line(0.13, 0.63, 0.47, 0.63)],
  B: [
    [[0.08, 0.95], [0.08, 0.05], ...arc(0.28, 0.27, 0.22, 0.22, 270, 450), [0.08, 0.49]],
    [...arc(0.28, 0.72, 0.25, 0.23, 270, 450), [0.08, 0.95]],
  ],
  D: [[[0.08, 0.95], [0.08, 0.05], ...arc(0.2, 0.5, 0.34, 0.45, 270, 450), [0.08, 0.95]]],
  E: [line(0.52, 0.05, 0.08, 0.05, 0.08, 0.95, 0.52, 0.95), line(0.08, 0.48, 0.45, 0.48)],
  L: [line(0.08, 0.05, 0.08, 0.95, 0.5, 0.95)],
  N: [line(0.08, 0.95, 0.08, 0.05, 0.52, 0.95, 0.52, 0.05)],
  O: [arc(0.3, 0.5, 0.26, 0.45, 0, 360)],
  S: [[...arc(0.3, 0.27, 0.22, 0.22, 330, 90), ...arc(0.3, 0.72, 0.24, 0.23, 270, 510)]],
  T: [line(0.03, 0.05, 0.57, 0.05), line(0.3, 0.05, 0.3, 0.95)],
  U: [[[0.08, 0.05], [0.08, 0.65], ...arc(0.3, 0.65, 0.22, 0.3, 180, 0), [0.52, 0.05]]],
}

/** Distance of a point to a line. */
function distance([x, y]: Point, [ax, ay]: Point, [bx, by]: Point): number {
  const [dx, dy] = [bx - ax, by - ay]
  const length = dx * dx + dy * dy
  const share = length === 0 ? 0 : Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length))
  return Math.hypot(x - ax - share * dx, y - ay - share * dy)
}

/** Letters that were drawn before, at whole positions. */
const drawnLetters = new Map<string, Float32Array>()

const clamp = (value: number): number => Math.max(0, Math.min(1, value))

/** A drawing, which can be read like a decoded picture. */
export class Drawing implements DecodedPicture {
  readonly mayBeTransparent = false
  readonly width: number
  readonly height: number
  readonly #background: Color
  readonly #patches: Patch[] = []

  constructor(width: number, height: number, background: Color = WHITE) {
    this.width = width
    this.height = height
    this.#background = background
  }

  #add(left: number, top: number, right: number, bottom: number, color: Color, coverage: (x: number, y: number) => number): this {
    const [x, y] = [Math.max(0, Math.floor(left)), Math.max(0, Math.floor(top))]
    const [width, height] = [Math.min(this.width, Math.ceil(right)) - x, Math.min(this.height, Math.ceil(bottom)) - y]
    if (width <= 0 || height <= 0) return this
    const shares = Float32Array.from({ length: width * height }, (_, at) => coverage(x + (at % width), y + Math.floor(at / width)))
    this.#patches.push({ x, y, width, height, color, shares })
    return this
  }

  /** A copy, to which more can be added. */
  copy(): Drawing {
    const copy = new Drawing(this.width, this.height, this.#background)
    copy.#patches.push(...this.#patches)
    return copy
  }

  /** A box. Its sides may lie between pixels. */
  box(x: number, y: number, width: number, height: number, color: Color): this {
    const overlap = (from: number, to: number, at: number) => clamp(Math.min(to, at + 1) - Math.max(from, at))
    return this.#add(x, y, x + width, y + height, color, (at, row) => overlap(x, x + width, at) * overlap(y, y + height, row))
  }

  /** A ring. */
  ring(cx: number, cy: number, radius: number, stroke: number, color: Color): this {
    const reach = radius + stroke
    return this.#add(cx - reach, cy - reach, cx + reach, cy + reach, color, (x, y) =>
      clamp(0.5 + stroke / 2 - Math.abs(Math.hypot(x + 0.5 - cx, y + 0.5 - cy) - radius)),
    )
  }

  /** Letters at a whole position. `size`: their height. */
  text(text: string, x: number, y: number, size: number, color: Color = BLACK): this {
    for (const [index, letter] of [...text].entries()) {
      const left = Math.round(x + index * size * 0.72)
      const strokes = LETTERS[letter]
      if (strokes) this.#letter(letter, strokes, { left, top: Math.round(y), size, color })
    }
    return this
  }

  #letter(letter: string, strokes: readonly (readonly Point[])[], { left, top, size, color }: Letter): void {
    const radius = Math.max(0.55, size / 22)
    const margin = Math.ceil(radius + 1)
    const [width, height] = [Math.ceil(0.6 * size) + 2 * margin, Math.ceil(size) + 2 * margin]
    const [x, y] = [left - margin, top - margin]
    if (x < 0 || y < 0 || x + width > this.width || y + height > this.height) return
    const key = `${letter} ${size}`
    let shares = drawnLetters.get(key)
    if (!shares) {
      const lines = strokes.map((points) => points.map(([px, py]): Point => [margin + px * size, margin + py * size]))
      shares = Float32Array.from({ length: width * height }, (_, at) => {
        const point: Point = [(at % width) + 0.5, Math.floor(at / width) + 0.5]
        const near = lines.map((points) => Math.min(...points.slice(1).map((end, n) => distance(point, points[n]!, end))))
        return clamp(0.5 + radius - Math.min(...near))
      })
      drawnLetters.set(key, shares)
    }
    this.#patches.push({ x, y, width, height, color, shares })
  }

  readRows = async (top: number, count: number, width: number, target = allocateRows(count, width)): Promise<Buffer> => {
    const rows = target.subarray(0, count * width * CHANNELS)
    rows.fill(Buffer.from([...this.#background, 255]))
    for (const { x: left, y: first, width: columns, height: lines, color, shares } of this.#patches) {
      const right = Math.min(width, left + columns)
      for (let y = Math.max(top, first); y < Math.min(top + count, first + lines); y++) {
        for (let x = left; x < right; x++) {
          const share = shares[(y - first) * columns + x - left]!
          if (share === 0) continue
          const at = ((y - top) * width + x) * CHANNELS
          for (let channel = 0; channel < 3; channel++)
            rows[at + channel] = Math.round(rows[at + channel]! * (1 - share) + color[channel]! * share)
        }
      }
    }
    return rows
  }

  /** The drawing as a file. */
  async encode(format: 'png' | 'jpeg' | 'webp' | 'avif', quality = 80): Promise<Buffer> {
    const pixels = await this.readRows(0, this.height, this.width)
    const picture = sharp(pixels, { raw: { width: this.width, height: this.height, channels: CHANNELS } })
    return (format === 'png' ? picture.png({ compressionLevel: 1 }) : picture.toFormat(format, { quality })).toBuffer()
  }
}

/** A decoded file in memory. */
export async function decode(file: Buffer): Promise<DecodedPicture> {
  const { data, info } = await sharp(file).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
  const rowBytes = info.width * CHANNELS
  return {
    ...{ width: info.width, height: info.height, mayBeTransparent: false },
    readRows: async (top, count, width, target = allocateRows(count, width)) => {
      for (let y = 0; y < count; y++) data.copy(target, y * width * CHANNELS, (top + y) * rowBytes, (top + y) * rowBytes + width * CHANNELS)
      return target.subarray(0, count * width * CHANNELS)
    },
  }
}
