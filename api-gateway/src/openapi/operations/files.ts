import { FILE_EXTENSIONS } from '@tintype/crds/options/artifacts'
import { z } from 'zod'
import type { HeaderName } from './headers.ts'
import type { Operation, Parameter } from './operation.ts'
import { ifNoneMatch } from './parameters.ts'

const extensions = FILE_EXTENSIONS.map((extension) => extension.replaceAll('.', '\\.')).join('|')

const signed: readonly Parameter[] = [
  { name: 'account', in: 'path', required: true, description: 'Account of the file.', schema: z.string().min(1), example: 'acme' },
  {
    name: 'file',
    in: 'path',
    required: true,
    description: 'Id and extension: the format of a capture, or that of a file beside it, such as thumb.png or html.',
    schema: z.string().regex(new RegExp(`^scr_[0-7][0-9a-hjkmnp-tv-z]{25}\\.(${extensions})$`)),
    example: 'scr_7yztsh6vzw7j4q0n9x2c5d8e1f.webp',
  },
  {
    name: 'expires',
    in: 'query',
    required: true,
    description: 'Unix time at which the link ends.',
    schema: z.string().regex(/^\d{1,12}$/),
    example: '1795345200',
  },
  {
    name: 'signature',
    in: 'query',
    required: true,
    description: 'Covers path, expiry and attachment.',
    schema: z.string().min(1),
    example: 'a.kP3x',
  },
  {
    name: 'attachment',
    in: 'query',
    description: 'File name to save as; part of what is signed.',
    schema: z.string().min(1).max(128),
    example: 'shot.webp',
  },
  { name: 'Range', in: 'header', description: 'Which bytes (RFC 9110).', schema: z.string(), example: 'bytes=0-1023' },
  {
    name: 'If-Range',
    in: 'header',
    description: 'ETag: another file is sent whole.',
    schema: z.string(),
    example: '"6f1ed002ab5595859014ebf0951522d9"',
  },
  ifNoneMatch,
]

/** On every response with the file or about it. */
const described: readonly HeaderName[] = [
  'ETag',
  'Last-Modified',
  'Cache-Control',
  'Accept-Ranges',
  'Content-Disposition',
  'X-Content-Type-Options',
  'Content-Security-Policy',
]

/** Where `download_url` leads: anyone with the link can read the file. */
export const fileOperations: readonly Operation[] = [
  {
    id: 'getFile',
    method: 'get',
    path: '/files/users/{account}/{file}',
    isOutsideApi: true,
    tag: 'Files',
    summary: 'Download a file',
    description:
      'Take `download_url` as it is; it needs no key. HEAD returns the same headers without the file. Several ranges at once, and ranges that are not understood, return the whole file.',
    parameters: signed,
    responses: {
      200: { description: 'The file.', files: 'every', headers: [...described, 'Content-Length'] },
      206: { description: 'A part of the file.', files: 'every', headers: [...described, 'Content-Length', 'Content-Range'] },
      304: { description: 'The client has the file already.', headers: described },
    },
    errors: ['LINK_INVALID', 'NOT_FOUND', 'EXPIRED', 'RANGE_NOT_SATISFIABLE', 'TOO_MANY_DOWNLOADS'],
  },
]
