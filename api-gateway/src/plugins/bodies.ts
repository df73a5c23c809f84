import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { BodyBudget, BodyLease } from '../bodies/budget.ts'
import { Discard } from '../bodies/discard.ts'
import { decoderOf, decodeText, parseJson } from '../bodies/parse.ts'
import { receiveBody, tooLarge } from '../bodies/receive.ts'
import { ApiError } from '../common/errors.ts'
import { MERGE_PATCH } from '../http/body.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Maximum size of the body. A route without it reads no body. */
    maxBodyBytes?: number
  }
  interface FastifyRequest {
    /** The bytes of the body in the budget. */
    bodyLease: BodyLease | undefined
  }
}

interface BodyDeps {
  bodyBudget: Pick<BodyBudget, 'take'>
}

/** A request has a body if it has a Content-Length or a Transfer-Encoding. */
const hasBody = ({ 'content-length': length = '0', 'transfer-encoding': encoding }: FastifyRequest['headers']): boolean =>
  length !== '0' || encoding !== undefined

/** True for a request with a body whose route reads one. */
const takesBody = ({ headers, routeOptions }: FastifyRequest): boolean => routeOptions.config.maxBodyBytes !== undefined && hasBody(headers)

/** @throws ApiError UNSUPPORTED_MEDIA_TYPE, unless nothing would read the body anyway */
function refuseMedia(request: FastifyRequest): undefined {
  if (takesBody(request)) throw new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the body must be JSON (Content-Type: application/json)')
}

/**
 * Reads JSON bodies of routes that have one, and discards what is left of refused bodies. An empty body counts as absent, whatever its Content-Type.
 * The body leaves the budget when the handler ends. A handler that waits for something else afterward returns a function, which is called without the body.
 */
export function addBodies(app: FastifyInstance, { bodyBudget }: BodyDeps): void {
  const discard = new Discard()
  app.decorateRequest('bodyLease', undefined)
  // Node discards the unread body of a request at full speed, unless reading it has begun.
  // Callbacks cost less than promises here, and most requests have no body.
  app.addHook('onRequest', ({ headers, raw }, _, done) => {
    if (hasBody(headers)) raw.read(0)
    done()
  })
  app.addHook('onResponse', ({ headers, raw }, _, done) => {
    if (hasBody(headers) && !raw.readableEnded && !raw.destroyed) discard.add(raw)
    done()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', (request: FastifyRequest, payload: Readable) => readJson(request, payload, bodyBudget))
  app.addContentTypeParser(MERGE_PATCH, async (request: FastifyRequest, payload: Readable) =>
    request.method === 'PATCH' ? readJson(request, payload, bodyBudget) : refuseMedia(request),
  )
  app.addContentTypeParser('*', async (request: FastifyRequest) => refuseMedia(request))
  app.addHook('onRoute', (route) => {
    if (route.config?.maxBodyBytes !== undefined) route.handler = thenDropBody(route.handler)
  })
}

async function readJson(request: FastifyRequest, payload: Readable, budget: BodyDeps['bodyBudget']): Promise<unknown> {
  const { headers, accountName } = request
  const { maxBodyBytes = 0 } = request.routeOptions.config
  if (!takesBody(request)) return undefined
  const declaredBytes = headers['content-length'] === undefined ? undefined : Number(headers['content-length'])
  if (declaredBytes !== undefined && declaredBytes > maxBodyBytes) throw tooLarge(maxBodyBytes)
  const decoder = decoderOf(headers['content-type'] ?? '')
  const lease = budget.take(accountName)
  request.bodyLease = lease
  try {
    const reception = {
      maxBytes: maxBodyBytes,
      declaredBytes,
      encoding: headers['content-encoding'],
      lease,
      isAnonymous: accountName === '',
    }
    const bytes = await receiveBody(payload, reception)
    await lease.turn()
    return parseJson(bytes.read((whole) => decodeText(whole, decoder)))
  } catch (error) {
    lease.release()
    throw error
  }
}

const thenDropBody = (handler: RouteHandlerMethod): RouteHandlerMethod =>
  async function (request, reply) {
    let result: unknown
    try {
      result = await handler.call(this, request, reply)
    } finally {
      request.body = undefined
      request.bodyLease?.release()
    }
    return typeof result === 'function' ? result() : result
  }
