import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ImageFormat } from '@tintype/crds/capture-options/image'
import sharp from 'sharp'
import { raced } from './race.ts'
import type { Tile } from './tiles.ts'

// Tiles go to disk as they are taken and are joined from there, row by row: neither the browser nor the runner ever holds the whole picture.

// One picture after the other: nothing comes back that would be worth keeping.
sharp.cache(false)

/** How the joined picture is encoded. */
export interface Joined {
  format: ImageFormat
  /** 0 to 100; absent for png. */
  quality: number | undefined
  signal: AbortSignal
}

/** Fast, and a tenth larger than the library's default. */
const PNG_LEVEL = 3

/** Takes the tiles one after the other and joins them, top first. */
export async function stitch(tiles: readonly Tile[], take: (tile: Tile) => Promise<Buffer>, joined: Joined): Promise<Buffer> {
  const directory = await mkdtemp(join(tmpdir(), 'tiles-'))
  try {
    const files: string[] = []
    for (const [index, tile] of tiles.entries()) {
      const file = join(directory, `${index}.png`)
      await writeFile(file, await take(tile))
      files.push(file)
    }
    return await raced(encode(files, joined), joined.signal)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function encode(files: readonly string[], { format, quality }: Joined): Promise<Buffer> {
  const options = { limitInputPixels: false, sequentialRead: true } as const
  const picture = files.length === 1 ? sharp(files[0], options) : sharp([...files], { ...options, join: { across: 1 } })
  switch (format) {
    case 'png':
      return picture.png({ compressionLevel: PNG_LEVEL, adaptiveFiltering: false }).toBuffer()
    case 'jpeg':
      // 0 is legal for Chromium and for clients, not for the library.
      return picture.jpeg({ quality: Math.max(1, quality ?? 1) }).toBuffer()
    case 'webp':
      return picture.webp({ quality: Math.max(1, quality ?? 1), effort: 0 }).toBuffer()
  }
}

/** Width and height of an encoded picture in device pixels, from its header. */
export async function sizeOf(picture: Buffer): Promise<{ width: number; height: number }> {
  const { width, height } = await sharp(picture, { limitInputPixels: false }).metadata()
  return { width, height }
}
