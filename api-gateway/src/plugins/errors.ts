import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toErrorBody, toHttpError } from '../errors.ts'

const PAYLOAD_TOO_LARGE = 413
/** What nginx logs for it; nobody is left to read it. */
const CLIENT_CLOSED_REQUEST = 499

/** Answers an error; the one place that does. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error === request.raw.errored) {
    request.log.debug({ err: error }, 'client hung up')
    return reply.code(CLIENT_CLOSED_REQUEST).send()
  }
  const httpError = toHttpError(error)
  if (httpError.status >= 500) request.log[httpError.status === 503 ? 'warn' : 'error']({ err: error }, 'request failed')
  // Nothing of an answer that was prepared for success may stay; Location may: it tells where a created record is.
  for (const name of ['etag', 'last-modified', 'accept-ranges', 'content-length', 'content-disposition', 'content-security-policy']) {
    reply.removeHeader(name)
  }
  // Fastify would close the connection on a client that still sends its body, which then sees a reset instead of this answer. Node reads
  // the rest away, for as long as a request may take.
  if (httpError.status === PAYLOAD_TOO_LARGE) reply.removeHeader('connection')
  return reply
    .code(httpError.status)
    .headers({ 'x-request-id': request.id, 'cache-control': 'no-store', ...httpError.headers })
    .type('application/json; charset=utf-8')
    .send(toErrorBody(httpError, request.id))
}

/** The error envelope, for whatever a route, a hook, a parser or fastify itself throws. */
export function addErrors(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply))
}

const PROTOCOL_ERRORS: Readonly<Record<string, { line: string; message: string }>> = {
  HPE_HEADER_OVERFLOW: { line: '431 Request Header Fields Too Large', message: 'the request headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { line: '408 Request Timeout', message: 'the request did not arrive in time' },
}
const MALFORMED = { line: '400 Bad Request', message: 'this is not an HTTP request' }

/** What is no HTTP request has neither an id nor a reply: the envelope is written to the socket as it is. */
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
