import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp, { type Sharp } from 'sharp'
import { type BrowserFormat, type Encoded, encode } from './encode.ts'
import { raced } from './race.ts'
import type { Tile } from './tile.ts'

// Tiles go to disk as they are taken and are joined from there, row by row: neither the browser nor the runner ever holds the whole picture.

// One picture after the other: nothing comes back that would be worth keeping.
sharp.cache(false)

/** How the joined picture is encoded. */
export interface Joined {
  format: BrowserFormat
  /** 0 to 100; absent for png. */
  quality: number | undefined
  signal: AbortSignal
}

/** Tiles on disk, top first, and what they measure together. */
interface Spool {
  files: string[]
  width: number
  height: number
}

/** Takes the tiles one after the other and joins them, top first. */
export async function stitch(tiles: readonly Tile[], take: (tile: Tile) => Promise<Buffer>, joined: Joined): Promise<Encoded> {
  const directory = await mkdtemp(join(tmpdir(), 'tiles-'))
  try {
    const spool: Spool = { files: [], width: 0, height: 0 }
    for (const [index, tile] of tiles.entries()) {
      const picture = await take(tile)
      const file = join(directory, `${index}.png`)
      const [size] = await Promise.all([sizeOf(picture), writeFile(file, picture)])
      spool.files.push(file)
      spool.width = size.width
      spool.height += size.height
    }
    return await raced(
      encode(() => open(spool), joined.format, joined.quality),
      joined.signal,
    )
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

function open({ files, width, height }: Spool): Sharp {
  const options = { limitInputPixels: false, sequentialRead: true } as const
  // The library joins cells of one size: what is below the last tile's end is cut off.
  const all = files.length === 1 ? sharp(files[0], options) : sharp([...files], { ...options, join: { across: 1 } })
  return all.extract({ left: 0, top: 0, width, height })
}

/** What every png begins with, up to its width (RFC 2083, 11.2.1). */
const PNG_START = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

/** Width and height of an encoded picture in device pixels, from its header. */
export async function sizeOf(picture: Buffer): Promise<{ width: number; height: number }> {
  // Nearly every picture is one, and opening it in the library takes longer than all else that is done after the screenshot.
  if (picture.subarray(0, PNG_START.length).equals(PNG_START)) return { width: picture.readUInt32BE(16), height: picture.readUInt32BE(20) }
  const { width, height } = await sharp(picture, { limitInputPixels: false }).metadata()
  return { width, height }
}
