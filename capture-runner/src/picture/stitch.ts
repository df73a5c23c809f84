import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sharp } from 'sharp'
import type { Tile } from '../plan/picture.ts'
import { abortable } from '../runtime/race.ts'
import { type BrowserFormat, type Encoded, encode } from './encode.ts'
import sharp from './library.ts'
import { afterRows, beforeRows, type Frame, joinFrames, toSection } from './section.ts'

// Writes tiles to disk as they are taken and joins them from there. So neither the browser nor the runner holds the whole decoded image. A PNG reuses the
// data that the browser has compressed (ADR 36). Other formats are encoded row by row.

/** Encoding of the joined image. */
export interface Joined {
  format: BrowserFormat
  /** 0 to 100; absent for png. */
  quality: number | undefined
  signal: AbortSignal
}

/** A tile on disk. */
interface Spooled {
  file: string
  width: number
  height: number
  /** Position of the rows in the file, if they can be placed below those of another tile. */
  section?: { frame: Frame; offset: number; length: number }
}

/** Takes the tiles one after the other and joins them, top first. Writes one to disk while the next is taken. */
export async function stitch(tiles: readonly Tile[], take: (tile: Tile) => Promise<Buffer>, joined: Joined): Promise<Encoded> {
  const directory = await mkdtemp(join(tmpdir(), 'tiles-'))
  let spooling: Promise<unknown> = Promise.resolve()
  try {
    const spool: Spooled[] = []
    for (const [index, tile] of tiles.entries()) {
      const picture = await take(tile)
      // At most one pending tile, so that memory does not grow with the page.
      await spooling
      spooling = spoolTile(picture, join(directory, `${index}.png`), joined.format).then((spooled) => spool.push(spooled))
      spooling.catch(() => {})
    }
    await abortable(spooling, joined.signal)
    return (await joinSections(spool, joined.signal)) ?? (await encodeTiles(spool, joined))
  } finally {
    await spooling.catch(() => {})
    await rm(directory, { recursive: true, force: true })
  }
}

async function spoolTile(picture: Buffer, file: string, format: BrowserFormat): Promise<Spooled> {
  const section = format === 'png' ? await toSection(picture) : undefined
  if (!section) {
    const [size] = await Promise.all([sizeOf(picture), writeFile(file, picture)])
    return { file, ...size }
  }
  const { frame, rows } = section
  const before = beforeRows(frame)
  const length = rows.reduce((sum, part) => sum + part.length, 0)
  // Each tile is also a complete image, so that it can be decoded if the sections cannot be joined.
  await writeFile(file, [before, ...rows, afterRows(frame)])
  return { file, width: frame.width, height: frame.height, section: { frame, offset: before.length, length } }
}

/** Joins the tiles to a PNG without decoding. @returns undefined if they differ too much */
async function joinSections(spool: readonly Spooled[], signal: AbortSignal): Promise<Encoded | undefined> {
  const sections = spool.flatMap(({ file, section }) => (section ? [{ file, ...section }] : []))
  const frame = sections.length === spool.length ? joinFrames(sections.map((section) => section.frame)) : undefined
  if (!frame) return undefined
  const [before, after] = [beforeRows(frame), afterRows(frame)]
  const rowBytes = sections.reduce((sum, { length }) => sum + length, 0)
  const picture = Buffer.allocUnsafeSlow(before.length + rowBytes + after.length)
  let at = before.copy(picture)
  for (const { file, offset, length } of sections) {
    signal.throwIfAborted()
    await readInto(picture.subarray(at, at + length), file, offset)
    at += length
  }
  after.copy(picture, at)
  return { picture, quality: undefined }
}

async function readInto(target: Buffer, file: string, offset: number): Promise<void> {
  await using handle: FileHandle = await open(file)
  const { bytesRead } = await handle.read(target, 0, target.length, offset)
  if (bytesRead !== target.length) throw new Error(`${file} has ${bytesRead} bytes of ${target.length}`)
}

function encodeTiles(spool: readonly Spooled[], { format, quality, signal }: Joined): Promise<Encoded> {
  return abortable(
    encode(() => openTiles(spool), format, quality),
    signal,
  )
}

function openTiles(spool: readonly Spooled[]): Sharp {
  const [first] = spool
  const options = { limitInputPixels: false, sequentialRead: true } as const
  const all =
    spool.length === 1
      ? sharp(first?.file, options)
      : sharp(
          spool.map(({ file }) => file),
          { ...options, join: { across: 1 } },
        )
  // The library joins cells of equal size, so the area below the last tile is cut off.
  const height = spool.reduce((sum, tile) => sum + tile.height, 0)
  return all.extract({ left: 0, top: 0, width: first?.width ?? 0, height })
}

/** The start of every PNG, up to its width (RFC 2083, 11.2.1). */
const PNG_START = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

/** Width and height of an encoded image in device pixels, from its header. */
export async function sizeOf(picture: Buffer): Promise<{ width: number; height: number }> {
  // Most images are PNGs, and the library takes longer to open one than all other work after the screenshot.
  if (picture.subarray(0, PNG_START.length).equals(PNG_START)) return { width: picture.readUInt32BE(16), height: picture.readUInt32BE(20) }
  const { width, height } = await sharp(picture, { limitInputPixels: false }).metadata()
  return { width, height }
}
