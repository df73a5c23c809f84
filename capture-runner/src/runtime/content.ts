import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A file on disk. */
export interface StoredFile {
  /** Path of the file. */
  file: string
  bytes: number
}

/** The file of a capture: in memory, or on disk if it may be large. */
export type Content = Buffer | StoredFile

/** Number of bytes. */
export const sizeOfContent = (content: Content): number => (Buffer.isBuffer(content) ? content.length : content.bytes)

/** A new stream of all bytes. */
export const streamOf = (content: Content): Readable =>
  Buffer.isBuffer(content) ? Readable.from([content]) : createReadStream(content.file)

/** The hash of all bytes, in hex. @throws the signal's reason */
export async function hashOf(content: Content, algorithm: 'md5' | 'sha256', signal: AbortSignal): Promise<string> {
  const hash = createHash(algorithm)
  if (Buffer.isBuffer(content)) return hash.update(content).digest('hex')
  await pipeline(streamOf(content), hash, { signal })
  return hash.digest('hex')
}
