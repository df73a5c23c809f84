import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { parseObjectKey } from '@tintype/crds/records/storage-keys'
import type { ByteSpan, StoredFile } from '@tintype/crds/storage/port'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, notFound } from '../../common/errors.ts'
import { hasTag, isUnchangedSince } from '../../http/headers.ts'
import type { FileStore } from '../../store/ports.ts'
import type { Turns } from '../../store/turns.ts'
import type { Downloads } from './downloads.ts'
import { contentTypeOf, dispositionOf, parseRange, SAFE_FILE_HEADERS } from './file-headers.ts'
import type { Holder } from './shares.ts'

interface FileToSend {
  key: string
  name: string
  extension: string
  attachment?: string | undefined
  stored: StoredFile
  /** The content, if it is in memory. */
  bytes?: Buffer | undefined
  /** Headers that replace the usual ones, such as `cache-control`. */
  headers?: Readonly<Record<string, string>> | undefined
}

interface SendDeps {
  files: Pick<FileStore, 'open'>
  downloads: Downloads
}

/** Sends a stored file or a range of it. Supports conditional and range requests (RFC 9110). */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: FileToSend, deps: SendDeps) {
  const { stored, extension } = file
  const tag = `"${stored.etag}"`
  // A POST that returns a file ignores conditional and range headers.
  const conditions = request.method === 'POST' ? {} : request.headers
  const isKnown = isNotModified(conditions, stored, tag)
  // Both can throw. An error must not have the headers of the file, or a cache could store it in place of the file.
  const range = isKnown ? undefined : rangeOf(conditions, stored, tag)
  const content = isKnown || request.method === 'HEAD' ? undefined : await contentOf(file, range, reply.raw, deps)
  reply.headers({
    ...SAFE_FILE_HEADERS,
    etag: tag,
    'last-modified': stored.lastModified.toUTCString(),
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
    'content-disposition': dispositionOf(file.name, extension, file.attachment),
    ...file.headers,
  })
  if (isKnown) return reply.code(304).send()
  const length = range ? range.end - range.start + 1 : stored.sizeBytes
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${stored.sizeBytes}`)
  reply.type(contentTypeOf(extension)).header('content-length', length)
  return content ? reply.send(content) : reply.send()
}

/** True if the client has the file. If-Modified-Since does not count beside If-None-Match (RFC 9110). */
function isNotModified(headers: FastifyRequest['headers'], { lastModified }: StoredFile, tag: string): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers
  return tags === undefined ? isUnchangedSince(lastModified, since) : hasTag(tags, tag)
}

/** The range to send. If-Range with another ETag sends the whole file. */
function rangeOf(headers: FastifyRequest['headers'], { sizeBytes }: StoredFile, tag: string) {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tag) return undefined
  const range = parseRange(headers.range, sizeBytes)
  if (range !== 'unsatisfiable') return range
  throw new ApiError('RANGE_NOT_SATISFIABLE', `the range is outside the file, which has ${sizeBytes} bytes`, {
    headers: { 'content-range': `bytes */${sizeBytes}` },
  })
}

/** Content in memory needs no connection to the bucket, so it takes a slot only if its client is slow. */
async function contentOf(
  { key, bytes, stored }: FileToSend,
  range: ByteSpan = { start: 0, end: stored.sizeBytes - 1 },
  response: ServerResponse,
  { files, downloads }: SendDeps,
): Promise<Readable | Buffer> {
  const holder = { account: parseObjectKey(key)?.account ?? '', file: key }
  if (!bytes) return downloads.open(holder, response, (turns) => openParts(holder, range, files, turns))
  downloads.watch(holder, response)
  return bytes.subarray(range.start, range.end + 1)
}

/**
 * Bytes that are requested from the bucket at once. What a client does not read fills the buffers of the kernel, up to many MiB on each connection.
 * A few hundred unread downloads of whole files would use up the kernel's memory for TCP, and then all connections of the node stall.
 */
const PART_BYTES = 512 * 1024

/** A part whose client takes it more slowly than this leaves its turn to others. */
const TURN_MILLISECONDS = 20

/** Requests each part of a file when the client has taken the earlier ones, and when the account has a turn. @throws ApiError NOT_FOUND */
async function openParts({ account, file }: Holder, { start, end }: ByteSpan, files: SendDeps['files'], turns: Turns): Promise<Readable> {
  const open = async (from: number): Promise<Readable> => {
    // An empty file has no range.
    const part = end < start ? undefined : { start: from, end: Math.min(end, from + PART_BYTES - 1) }
    const endTurn = await turns.take(account)
    const timer = setTimeout(endTurn, TURN_MILLISECONDS)
    const over = () => {
      clearTimeout(timer)
      endTurn()
    }
    try {
      const stream = await files.open(file, part)
      // The file was deleted since `stat`, or since the last part.
      if (stream === undefined) throw notFound('file')
      return stream.once('close', over)
    } catch (error) {
      over()
      throw error
    }
  }
  const first = await open(start)
  if (end - start < PART_BYTES) return first
  const read = async function* () {
    yield* first
    for (let from = start + PART_BYTES; from <= end; from += PART_BYTES) yield* await open(from)
  }
  const content = Readable.from(read(), { objectMode: false })
  // A client that leaves before the first byte: the generator has not started, and so does not end its first part.
  return content.once('close', () => first.destroy())
}
