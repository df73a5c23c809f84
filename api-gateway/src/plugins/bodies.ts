import { findReservedName, mayHoldReservedName } from '@tintype/crds/text/reserved-names'
import type { FastifyInstance } from 'fastify'
import { ApiError, invalid } from '../common/errors.ts'
import { toPath } from '../http/problems.ts'

/** Maximum size of a request body. It must fit a page given as `html`. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024

function parseJson(text: string): unknown {
  // Many clients send a Content-Type without a body.
  if (text === '') return undefined
  const body = fromJson(text)
  const reserved = mayHoldReservedName(text) ? findReservedName(body) : undefined
  if (reserved === undefined) return body
  const path = toPath(reserved)
  throw invalid([{ path: shorten(path), code: 'reserved_name', message: `${shorten(path)} is a reserved name: leave the field out` }])
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const problem = { path: '', code: 'invalid_json', message: 'the body is not valid JSON' } as const
    throw Object.assign(invalid([problem]), { cause })
  }
}

const MAX_PATH = 256

/** Keeps the end of a long path, which names the field. */
const shorten = (path: string): string => (path.length <= MAX_PATH ? path : `…${path.slice(-MAX_PATH)}`)

type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A request has a body if it has a Content-Length or a Transfer-Encoding. */
const hasBody = ({ 'content-length': length = '0', 'transfer-encoding': encoding }: Headers): boolean =>
  length !== '0' || encoding !== undefined

/** Accepts only JSON bodies. An empty body counts as absent, whatever its Content-Type. */
export function addBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, async (_request: unknown, text: string) => parseJson(text))
  app.addContentTypeParser('*', async ({ headers }: { headers: Headers }) => {
    if (!hasBody(headers)) return undefined
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the body must be JSON (Content-Type: application/json)')
  })
}
