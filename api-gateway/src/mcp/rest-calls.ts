import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'

/** An error response of the REST API. Its message is for a model: code, text, and the fields at fault. */
export class RestError extends Error {
  override readonly name = 'RestError'
}

interface RestCall {
  query?: Readonly<Record<string, string>> | undefined
  body?: object | undefined
  idempotencyKey?: string | undefined
}

interface ErrorBody {
  error?: { code: string; message: string; details?: unknown }
}

/** Headers of the client's request that decide what it may do, and how links begin. */
const PASSED_ON = ['authorization', 'host', 'x-forwarded-proto', 'traceparent'] as const
const MAX_MESSAGE = 2_000

function toError({ error }: ErrorBody, status: number): RestError {
  const { code = 'INTERNAL_ERROR', message = `status ${status}`, details = [] } = error ?? {}
  const problems = Array.isArray(details) ? (details as { path?: string; message?: string }[]) : []
  const lines = problems.map(({ path, message: text }) => `- ${path ? `${path}: ` : ''}${text}`).filter((line) => !line.endsWith(message))
  return new RestError([`${code}: ${message}`, ...lines].join('\n').slice(0, MAX_MESSAGE))
}

/**
 * Calls of the REST API in the same process, with the API key of an MCP request. So scopes, quota, rate limits, validation and errors are those of
 * REST.
 */
export class RestCalls {
  readonly #app: FastifyInstance
  readonly #request: FastifyRequest
  readonly #signal: AbortSignal

  /** @param signal aborts when the client is gone */
  constructor(app: FastifyInstance, request: FastifyRequest, signal: AbortSignal) {
    this.#app = app
    this.#request = request
    this.#signal = signal
  }

  /**
   * Resolves to the JSON body of the response.
   * @param path below `/api/v1`
   * @throws RestError for an error response
   */
  async call<Body>(method: 'GET' | 'POST', path: string, { query, body, idempotencyKey }: RestCall = {}): Promise<Body> {
    const { headers, id, ip } = this.#request
    const passedOn = Object.fromEntries(PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])))
    const options: InjectOptions = {
      method,
      url: `/api/v1${path}`,
      headers: { ...passedOn, 'x-request-id': id, ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }) },
      remoteAddress: ip,
      signal: this.#signal,
      ...(query && { query: { ...query } }),
      ...(body && { payload: body }),
    }
    const response = await this.#app.inject(options)
    const parsed = response.body === '' ? {} : (JSON.parse(response.body) as object)
    if (response.statusCode >= 400) throw toError(parsed, response.statusCode)
    return parsed as Body
  }
}
