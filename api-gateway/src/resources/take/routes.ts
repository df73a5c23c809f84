import { z } from 'zod'
import type { HeaderName } from '../../http/headers.ts'
import { ifModifiedSince, ifNoneMatch, type Parameter } from '../../http/parameters.ts'
import { type Route, routeFor } from '../../http/route.ts'
import { documentedUrl } from '../screenshots/options/target-url.ts'
import { TAKE_SCOPE } from './authenticate.ts'
import type { TakeDeps } from './deps.ts'
import { takePicture } from './handlers.ts'

const parameters: readonly Parameter[] = [
  {
    name: 'key',
    in: 'query',
    description: 'Id of the API key whose link secret signs the link. Required without the header Authorization.',
    schema: z.string(),
    example: 'key_7yztsh6vzw7j4q0n9x2c5d8e1f',
  },
  {
    name: 'url',
    in: 'query',
    required: true,
    description: 'URL of the page. The parameter `html` or `markdown` can replace it.',
    schema: documentedUrl,
    example: 'https://example.com/',
  },
  {
    name: 'expires',
    in: 'query',
    description: 'Unix time at which the link stops working. Default: never.',
    schema: z.string().regex(/^\d{1,10}$/),
    example: '1798761600',
  },
  {
    name: 'signature',
    in: 'query',
    description: 'HMAC-SHA256 of the other parameters, as 64 hexadecimal digits. Required without the header Authorization.',
    schema: z.string(),
    example: '2f9f6a2d678657b4affab6a40ab1b10798e1db90a0ce437d7ad97af5e85ea4bc',
  },
  {
    name: 'on_error',
    in: 'query',
    description: '`image` responds to errors with a PNG picture of the error code, with the same status.',
    schema: z.enum(['image']),
    example: 'image',
  },
  ifNoneMatch,
  ifModifiedSince,
]

const described: readonly HeaderName[] = [
  'ETag',
  'Last-Modified',
  'Cache-Control',
  'Age',
  'Accept-Ranges',
  'Content-Disposition',
  'X-Content-Type-Options',
  'Content-Security-Policy',
  'Cross-Origin-Resource-Policy',
]

const route = routeFor<TakeDeps>('Links')

/** Signed links, for `<img src>`, Markdown and email. */
export const takeRoutes: readonly Route<TakeDeps>[] = [
  route('GET /take', {
    id: 'takePicture',
    handlesHead: true,
    optionalScope: TAKE_SCOPE,
    hasErrorImages: true,
    summary: 'Get the picture of a page',
    description:
      'Responds with the picture itself: from the cache, or from a new capture. Sign the link, or send an API key with the scope `screenshots:write`. ' +
      'Every option of a screenshot is a parameter, such as `viewport_width=1200` or `full_page=true`. Repeat the name for lists. ' +
      'Links cannot have private options, scripts, proxies, storage, callbacks, comparisons, `cache=false` or `cache_refresh=true`. ' +
      'If the link policy of the key has `allowed_hosts`, markup of the link’s own, such as `html` or `styles`, needs `allow_own_markup`. ' +
      'Only captures count for rate and quota.',
    parameters,
    // The signature covers the query, so the handler reads it itself.
    query: 'unchecked',
    responses: {
      200: { description: 'The picture.', files: 'capture', headers: [...described, 'Content-Length'] },
      206: {
        description: 'The requested range of the picture.',
        files: 'capture',
        headers: [...described, 'Content-Length', 'Content-Range'],
      },
      304: { description: 'The client already has this picture.', headers: described },
      307: {
        description: 'The capture has not ended within 25 seconds. Request the same URL again.',
        headers: ['Location', 'Cache-Control', 'Cross-Origin-Resource-Policy'],
      },
    },
    errors: [
      'URL_NOT_ALLOWED',
      'OPTION_NOT_ALLOWED',
      'LINK_INVALID',
      'NOT_FOUND',
      'CONFLICT',
      'EXPIRED',
      'CAPTURE_FAILED',
      'RANGE_NOT_SATISFIABLE',
      'USAGE_LIMIT_REACHED',
      'QUEUE_FULL',
      'TOO_MANY_DOWNLOADS',
      'CAPTURE_TIMEOUT',
    ],
    handle: takePicture,
  }),
]
