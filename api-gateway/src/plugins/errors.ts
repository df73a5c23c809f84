import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type HttpError, toErrorBody, toHttpError } from '../common/errors.ts'
import { clientAddressOf } from './client-address.ts'

const PAYLOAD_TOO_LARGE = 413
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
  // With `Connection: close` Fastify closes the connection while the client still sends its body, and the client sees a reset instead of the response. Node
  // discards the rest of the body, up to the request timeout.
  if (httpError.status === PAYLOAD_TOO_LARGE) reply.removeHeader('connection')
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

const PROTOCOL_ERRORS: Readonly<Record<string, { line: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', message: 'the request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'the request did not arrive in time' },
}
const MALFORMED = { line: '400 Bad Request', message: 'this is not an HTTP request' }

/** Responds to malformed requests. They have no request id and no reply object, so the response is written to the socket. */
export function sendProtocolError(error: { code?: string }, socket: Pick<Socket, 'writable' | 'end' | 'destroy'>): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { line, message } = PROTOCOL_ERRORS[error.code ?? ''] ?? MALFORMED
  const body = JSON.stringify({ success: false, error: { message, code: 'VALIDATION_ERROR' } })
  const headers = ['Content-Type: application/json; charset=utf-8', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close']
  socket.end(`HTTP/1.1 ${line}\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
}
