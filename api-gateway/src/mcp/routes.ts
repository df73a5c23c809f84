import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../common/errors.ts'
import { MAX_BODY_BYTES } from '../http/body.ts'
import { findAccountOf, findUsableKey, invalidKey } from '../resources/keys/credentials.ts'
import { baseOf } from '../resources/screenshots/links.ts'
import type { KeyStore } from '../store/ports.ts'
import type { McpEndpoint } from './endpoint.ts'
import type { StoredFilesDeps } from './stored-files.ts'

// POST /mcp: the Model Context Protocol, for agents. Clients send their API key as REST clients do.

export interface McpDeps extends StoredFilesDeps {
  keys: KeyStore
  log: FastifyBaseLogger
  publicUrl: string
  /** Origins whose pages may call the API. `*` allows all. */
  corsOrigins: readonly string[]
  now: () => Date
}

/** Refuses requests of pages of other origins, as the protocol requires. Programs send no Origin. @throws ApiError ORIGIN_NOT_ALLOWED */
function assertOrigin({ headers }: FastifyRequest, { corsOrigins, publicUrl }: McpDeps): void {
  const { origin } = headers
  if (origin === undefined || corsOrigins.includes('*') || corsOrigins.includes(origin)) return
  if (origin === baseOf({ headers }, publicUrl)) return
  throw new ApiError('ORIGIN_NOT_ALLOWED', 'pages of this origin may not call this path')
}

/** Finds the key's account before the body is read. The scopes are those of what a tool calls. @throws ApiError 401 or 403 */
async function authenticate(request: FastifyRequest, { keys, now }: McpDeps): Promise<void> {
  const { apiKey } = await findUsableKey(request.headers.authorization, { keys, now })
  const account = await findAccountOf(apiKey, keys)
  if (!account) throw invalidKey()
  Object.assign(request, { account, apiKey, accountName: account.metadata.name })
}

/** Adds the endpoint. Its code is loaded with the first request: a gateway without agents does not need its memory. Depends on auth and bodies. */
export function addMcpRoute(app: FastifyInstance, deps: McpDeps): void {
  let endpoint: Promise<McpEndpoint> | undefined
  const open = async () => new (await import('./endpoint.ts')).McpEndpoint(app, deps)
  app.route({
    method: 'POST',
    url: '/mcp',
    config: { maxBodyBytes: MAX_BODY_BYTES },
    onRequest: async (request) => {
      assertOrigin(request, deps)
      await authenticate(request, deps)
    },
    handler: async (request, reply) => {
      endpoint ??= open()
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      // The call of the REST API takes its own turn, and counts the bytes again: without room, it is refused.
      request.bodyLease?.endTurn()
      const { status, headers, body } = await (await endpoint).respond(request, gone.signal)
      reply.code(status).headers({ ...Object.fromEntries(headers), 'cache-control': 'no-store' })
      return reply.send(body ? Readable.fromWeb(body as ReadableStream) : undefined)
    },
  })
}
