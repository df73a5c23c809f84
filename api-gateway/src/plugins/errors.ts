import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, type HttpError, toErrorBody, toHttpError } from '../common/errors.ts'
import { clientAddressOf } from './requests.ts'

const REQUEST_TIMEOUT = 408
/** The status that nginx logs for closed connections. No client receives it. */
const CLIENT_CLOSED_REQUEST = 499

/** The body of an error response and its content type. */
interface ErrorContent {
  type: string
  body: object
}

const toJson = (error: HttpError, requestId: string): ErrorContent => ({
  type: 'application/json; charset=utf-8',
  body: toErrorBody(error, requestId),
})

/** Sends an error response. All errors go through here. @param toContent builds a body other than JSON */
export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  toContent: (error: HttpError, requestId: string) => ErrorContent = toJson,
): FastifyReply {
  if (error === request.raw.errored) {
    request.log.debug({ err: error, clientAddress: clientAddressOf(request) }, 'client closed the connection')
    return reply.code(CLIENT_CLOSED_REQUEST).send()
  }
  const httpError = toHttpError(error)
  if (httpError.status >= 500) {
    const level = httpError.status === 503 ? 'warn' : 'error'
    request.log[level]({ err: error, clientAddress: clientAddressOf(request) }, 'request failed')
  }
  // Removes headers that were set for a successful response. Location stays, because it names a created record.
  for (const name of ['etag', 'last-modified', 'accept-ranges', 'content-length', 'content-disposition', 'content-security-policy']) {
    reply.removeHeader(name)
  }
  // After an error in the body, Fastify sets `Connection: close`. It then closes the connection while the client still sends its body, and the client
  // sees a reset instead of the response. Node discards the rest of the body, up to the request timeout. A client that is too slow sends no rest.
  if (httpError.status !== REQUEST_TIMEOUT) reply.removeHeader('connection')
  const { type, body } = toContent(httpError, request.id)
  return reply
    .code(httpError.status)
    .headers({ 'x-request-id': request.id, 'cache-control': 'no-store', ...httpError.headers })
    .type(type)
    .send(body)
}

/** Sends the error body for all errors of routes, hooks, parsers and Fastify itself. */
export function addErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply))
}

const PROTOCOL_ERRORS: Readonly<Record<string, ApiError>> = {
  HPE_HEADER_OVERFLOW: new ApiError('HEADERS_TOO_LARGE', 'the URL and the headers are larger than 16 KiB together: send smaller ones'),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('REQUEST_TIMEOUT', 'the request did not arrive within 60 seconds: send it again, faster'),
}
const MALFORMED = new ApiError('VALIDATION_ERROR', 'this is not an HTTP request: send HTTP/1.1')

/** Responds to malformed requests. They have no reply object, so the response is written to the socket. An id of the client is not known. */
export function sendProtocolError(error: { code?: string }, socket: Pick<Socket, 'writable' | 'end' | 'destroy'>): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const httpError = toHttpError(PROTOCOL_ERRORS[error.code ?? ''] ?? MALFORMED)
  const requestId = randomUUID()
  const body = JSON.stringify(toErrorBody(httpError, requestId))
  const lines = [
    `HTTP/1.1 ${httpError.status} ${STATUS_CODES[httpError.status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    'Connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}
