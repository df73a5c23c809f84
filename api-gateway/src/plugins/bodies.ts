import type { Readable } from 'node:stream'
import { toPath } from '@tintype/crds/schema/issue-messages'
import { findIllFormedText, findReservedName } from '@tintype/crds/text/json'
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from 'fastify'
import type { BodyBudget, BodyLease } from '../bodies/budget.ts'
import { receiveBody, tooLarge } from '../bodies/receive.ts'
import { ApiError, invalid, type Problem } from '../common/errors.ts'
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

// Decodes the bytes of a body and parses them.

const utf8 = new TextDecoder('utf-8', { fatal: true })
const latin1 = new TextDecoder('windows-1252', { fatal: true })

/** Encodings by their names in Content-Type. In all of them, the bytes that JsonScan compares are ASCII. A decoder drops a byte order mark. */
const DECODERS: ReadonlyMap<string, TextDecoder> = new Map([
  ...['utf-8', 'utf8', 'us-ascii', 'ascii'].map((name) => [name, utf8] as const),
  // As browsers read ISO 8859-1.
  ...['iso-8859-1', 'latin1', 'windows-1252'].map((name) => [name, latin1] as const),
])

/** The decoder for a Content-Type. @throws ApiError UNSUPPORTED_MEDIA_TYPE */
function decoderOf(contentType: string): TextDecoder {
  const [, quoted, plain = quoted] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]+))/i.exec(contentType) ?? []
  const decoder = plain === undefined ? utf8 : DECODERS.get(plain.toLowerCase())
  if (decoder) return decoder
  throw new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'the charset in Content-Type is not supported: send the body in UTF-8, with charset=utf-8 or without charset',
  )
}

/** @throws ApiError VALIDATION_ERROR */
function decodeText(bytes: Buffer, decoder: TextDecoder): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw toError({ path: '', code: 'invalid_format', message: 'the body is not valid UTF-8: encode it as UTF-8' }, cause)
  }
}

/** @throws ApiError VALIDATION_ERROR for invalid JSON, reserved names and texts that no encoding can store */
function parseJson(text: string): unknown {
  // Many clients send a Content-Type without a body.
  if (text === '') return undefined
  const body = fromJson(text)
  const reserved = findReservedName(body)
  if (reserved) {
    const path = shorten(toPath(reserved))
    throw toError({ path, code: 'reserved_name', message: `${path} is a reserved name: leave the field out` })
  }
  const illFormed = findIllFormedText(body)
  if (illFormed) {
    const path = shorten(toPath(illFormed)).toWellFormed()
    const message = `${path || 'the body'} is not well-formed Unicode: it has one half of a surrogate pair. Send the whole character or leave it out`
    throw toError({ path, code: 'invalid_format', message })
  }
  return body
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw toError({ path: '', code: 'invalid_json', message: 'the body is not valid JSON' }, cause)
  }
}

const toError = (problem: Problem, cause?: unknown): ApiError => Object.assign(invalid([problem]), { cause })

const MAX_PATH = 256

/** Keeps the end of a long path, which names the field. */
const shorten = (path: string): string => (path.length <= MAX_PATH ? path : `…${path.slice(-MAX_PATH)}`)

/** Bytes that are discarded before a pause. */
export const TURN_BYTES = 1024 ** 2
/** Pause between two turns. */
export const TURN_MILLISECONDS = 20
/** Bytes that a stream reads from its connection at a time. */
const CHUNK_BYTES = 65_536

/**
 * Reads the rest of refused bodies and drops it, so that clients that send everything first can read the response, and can use the connection again.
 * The rate of all together is limited: the buffers of hundreds of bodies at full speed would need more memory than the process has.
 */
export class Discard {
  readonly #waiting: Readable[] = []
  #left = TURN_BYTES
  #timer: NodeJS.Timeout | undefined

  /** Discards what is left of a body. */
  add(body: Readable): void {
    body.on('data', ({ length }: Buffer) => {
      this.#left -= length
      if (this.#left <= 0) this.#wait(body)
    })
    body.on('error', () => {})
    if (this.#left > 0 && this.#waiting.length === 0) body.resume()
    else this.#wait(body)
  }

  #wait(body: Readable): void {
    body.pause()
    this.#waiting.push(body)
    this.#timer ??= setTimeout(() => this.#turn(), TURN_MILLISECONDS)
  }

  #turn(): void {
    this.#timer = undefined
    this.#left = TURN_BYTES
    for (const body of this.#waiting.splice(0, TURN_BYTES / CHUNK_BYTES)) body.resume()
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#turn(), TURN_MILLISECONDS)
  }
}
