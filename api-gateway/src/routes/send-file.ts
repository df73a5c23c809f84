import type { Readable } from 'node:stream'
import type { ByteSpan, StoredFile } from '@tintype/crds/storage/port'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, notFound } from '../errors.ts'
import type { FileStore } from '../store/ports.ts'
import { hasTag } from '../translate/common/etag.ts'
import { contentTypeOf, dispositionOf, parseRange, SAFE_FILE_HEADERS } from '../translate/files/file-headers.ts'
import type { Downloads } from './downloads.ts'

/** A reader that takes nothing for so long holds a place that others want. */
const STALLED_MILLISECONDS = 60_000

interface FileToSend {
  key: string
  name: string
  extension: string
  attachment?: string | undefined
  stored: StoredFile
}

interface SendDeps {
  files: Pick<FileStore, 'open'>
  downloads: Downloads
}

/** Sends a stored file, or the part of it that was asked for (RFC 9110: conditional and range requests). */
export async function sendFile(request: FastifyRequest, reply: FastifyReply, file: FileToSend, { files, downloads }: SendDeps) {
  const { key, stored, extension } = file
  const tag = `"${stored.etag}"`
  // A POST that ends with a file is neither conditional nor partial.
  const conditions = request.method === 'POST' ? {} : request.headers
  const isKnown = hasTag(conditions['if-none-match'], tag)
  // Both may refuse. A refusal must not carry the headers of the file: it could be cached in the file's place.
  const range = isKnown ? undefined : rangeOf(conditions, stored, tag)
  const stream = isKnown || request.method === 'HEAD' ? undefined : await downloads.open(() => open(key, range, files))
  reply.headers({
    ...SAFE_FILE_HEADERS,
    etag: tag,
    'last-modified': stored.lastModified.toUTCString(),
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
    'content-disposition': dispositionOf(file.name, extension, file.attachment),
  })
  if (isKnown) return reply.code(304).send()
  const length = range ? range.end - range.start + 1 : stored.sizeBytes
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${stored.sizeBytes}`)
  reply.type(contentTypeOf(extension)).header('content-length', length)
  if (!stream) return reply.send()
  reply.raw.setTimeout(STALLED_MILLISECONDS, () => reply.raw.destroy())
  return reply.send(stream)
}

/** If-Range guards a resumed download: another file is sent whole. */
function rangeOf(headers: FastifyRequest['headers'], { sizeBytes }: StoredFile, tag: string) {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tag) return undefined
  const range = parseRange(headers.range, sizeBytes)
  if (range !== 'unsatisfiable') return range
  throw new ApiError('RANGE_NOT_SATISFIABLE', 'the file has none of these bytes', { headers: { 'content-range': `bytes */${sizeBytes}` } })
}

async function open(key: string, range: ByteSpan | undefined, files: SendDeps['files']): Promise<Readable> {
  const stream = await files.open(key, range)
  // Deleted since it was looked at.
  if (stream === undefined) throw notFound('file')
  return stream
}
