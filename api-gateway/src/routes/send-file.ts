import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import type { FileStore, StoredFile } from '../store/ports.ts'
import { parseRange } from '../translate/byte-range.ts'
import { hasTag } from '../translate/etag.ts'
import { contentTypeOf, dispositionOf, SAFE_FILE_HEADERS } from '../translate/file-headers.ts'
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
  reply.headers({
    ...SAFE_FILE_HEADERS,
    etag: tag,
    'last-modified': stored.lastModified.toUTCString(),
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=3600',
    'content-disposition': dispositionOf(file.name, extension, file.attachment),
  })
  // A POST that ends with a file is neither conditional nor partial.
  const conditions = request.method === 'POST' ? {} : request.headers
  if (hasTag(conditions['if-none-match'], tag)) return reply.code(304).send()
  const range = rangeOf(conditions, stored, tag)
  const length = range ? range.end - range.start + 1 : stored.sizeBytes
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${stored.sizeBytes}`)
  reply.type(contentTypeOf(extension)).header('content-length', length)
  if (request.method === 'HEAD') return reply.send()
  reply.raw.setTimeout(STALLED_MILLISECONDS, () => reply.raw.destroy())
  return reply.send(await downloads.open(() => files.open(key, range)))
}

/** If-Range guards a resumed download: another file is sent whole. */
function rangeOf(headers: FastifyRequest['headers'], { sizeBytes }: StoredFile, tag: string) {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tag) return undefined
  const range = parseRange(headers.range, sizeBytes)
  if (range !== 'unsatisfiable') return range
  throw new ApiError('RANGE_NOT_SATISFIABLE', 'the file has none of these bytes', { headers: { 'content-range': `bytes */${sizeBytes}` } })
}
