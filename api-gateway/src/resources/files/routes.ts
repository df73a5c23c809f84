import { verifyLink } from '@tintype/crds/crypto/signatures'
import { FILE_EXTENSIONS } from '@tintype/crds/options/artifacts'
import { parseObjectKey } from '@tintype/crds/records/storage-keys'
import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { ApiError, notFound } from '../../common/errors.ts'
import type { HeaderName } from '../../http/headers.ts'
import { ifModifiedSince, ifNoneMatch, type Parameter } from '../../http/parameters.ts'
import type { RawQuery } from '../../http/query.ts'
import { type Input, type Route, routeFor } from '../../http/route.ts'
import { type FilesDeps, findFile } from './find-file.ts'
import { sendFile } from './send-file.ts'

const MAX_ATTACHMENT_LENGTH = 128
const extensions = FILE_EXTENSIONS.map((extension) => extension.replaceAll('.', '\\.')).join('|')

const signed: readonly Parameter[] = [
  { name: 'account', in: 'path', required: true, description: 'Account of the file.', schema: z.string().min(1), example: 'acme' },
  {
    name: 'file',
    in: 'path',
    required: true,
    description: 'Id and extension. The extension is the format of the screenshot, or that of an artifact, such as thumb.png or html.',
    schema: z.string().regex(new RegExp(`^scr_[0-7][0-9a-hjkmnp-tv-z]{25}\\.(${extensions})$`)),
    example: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f.webp',
  },
  {
    name: 'expires',
    in: 'query',
    required: true,
    description: 'Unix time at which the link expires.',
    schema: z.string().regex(/^\d{1,12}$/),
    example: '1795345200',
  },
  {
    name: 'signature',
    in: 'query',
    required: true,
    description: 'Signature of path, expiry and attachment.',
    schema: z.string().min(1),
    example: 'a.kP3x',
  },
  {
    name: 'attachment',
    in: 'query',
    description: 'File name for saving. The signature covers it.',
    schema: z.string().min(1).max(MAX_ATTACHMENT_LENGTH),
    example: 'shot.webp',
  },
  { name: 'Range', in: 'header', description: 'Byte range (RFC 9110).', schema: z.string(), example: 'bytes=0-1023' },
  {
    name: 'If-Range',
    in: 'header',
    description: 'ETag. If it does not match, the whole file is sent.',
    schema: z.string(),
    example: '"6f1ed002ab5595859014ebf0951522d9"',
  },
  ifNoneMatch,
  ifModifiedSince,
]

/** Headers of every response with the file, also of 206 and 304. */
const described: readonly HeaderName[] = [
  'ETag',
  'Last-Modified',
  'Cache-Control',
  'Accept-Ranges',
  'Content-Disposition',
  'X-Content-Type-Options',
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
]

/** @throws ApiError LINK_INVALID */
function checkLink(key: string, query: RawQuery, { keyRing, now }: FilesDeps): { attachment?: string } {
  const { expires, signature, attachment } = query
  const isForm = typeof expires === 'string' && /^\d{1,12}$/.test(expires) && typeof signature === 'string'
  const isNamed = attachment === undefined || (typeof attachment === 'string' && attachment.length <= MAX_ATTACHMENT_LENGTH)
  if (!isForm || !isNamed || !verifyLink({ key, expires: Number(expires), attachment }, signature, keyRing(), now())) {
    throw new ApiError('LINK_INVALID', 'the link is not valid or has expired')
  }
  return attachment === undefined ? {} : { attachment }
}

async function readFile({ request, reply }: Input, deps: FilesDeps): Promise<FastifyReply> {
  const { '*': key } = request.params as { '*': string }
  const link = checkLink(key, request.query as RawQuery, deps)
  const parts = parseObjectKey(key)
  if (!parts) throw notFound('file')
  const stored = await findFile(parts, deps)
  const { id, extension } = parts
  return sendFile(request, reply, { key, name: `${id}.${extension}`, extension, stored, ...link }, deps)
}

const route = routeFor<FilesDeps>()

/** The target of `download_url`. Anyone with the link can read the file. */
export const fileRoutes: readonly Route<FilesDeps>[] = [
  route('GET /files/users/{account}/{file}', {
    id: 'getFile',
    // Every path below /files gets the same error for an invalid link.
    url: '/files/*',
    isOutsideApi: true,
    handlesHead: true,
    tag: 'Files',
    summary: 'Download a file',
    description:
      'Use `download_url` unchanged; it needs no key. HEAD returns the same headers without the file. A request with several ranges or an invalid range returns the whole file.',
    parameters: signed,
    // An invalid query is an invalid link.
    query: 'unchecked',
    responses: {
      200: { description: 'The file.', files: 'every', headers: [...described, 'Content-Length'] },
      206: { description: 'The requested range of the file.', files: 'every', headers: [...described, 'Content-Length', 'Content-Range'] },
      304: { description: 'The client already has this file.', headers: described },
    },
    errors: ['LINK_INVALID', 'NOT_FOUND', 'EXPIRED', 'RANGE_NOT_SATISFIABLE', 'TOO_MANY_DOWNLOADS'],
    handle: readFile,
  }),
]
