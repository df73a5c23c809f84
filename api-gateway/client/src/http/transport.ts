import { TintypeError } from '../common/errors.ts'
import { Attempt } from './attempt.ts'
import { toResponseError } from './response-error.ts'
import { type Repetition, retry, type Timing } from './retry.ts'

export interface TransportSettings {
  apiUrl: string
  apiKey: string | undefined
  fetch: typeof globalThis.fetch
  /** Milliseconds without progress until a request fails. */
  timeout: number
  retries: number
  timing: Timing
}

type QueryValue = string | number | boolean | readonly string[] | undefined

export interface ApiRequest {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path after `/api/v1`. */
  path: string
  query?: Readonly<Record<string, QueryValue>>
  body?: object | undefined
  idempotencyKey?: string | undefined
  /** Seconds for which the service may hold the request. */
  holdSeconds?: number | undefined
  signal?: AbortSignal | undefined
}

/** A response with a JSON body, or without a body. */
export interface ApiResponse<T> {
  status: number
  body: T
  headers: Headers
}

/** A random Idempotency-Key. `crypto.randomUUID` is missing on pages that are not served by https. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function toSearch(query: ApiRequest['query']): string {
  const entries = Object.entries(query ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`
}

/** POST without an Idempotency-Key has an effect each time. */
const repetitionOf = ({ method, idempotencyKey }: ApiRequest): Repetition =>
  method === 'POST' && idempotencyKey === undefined ? 'once' : 'repeatable'

/** Sends requests to the API and to file links, and repeats those that fail for a moment. */
export class Transport {
  readonly apiUrl: string
  readonly timing: Timing
  readonly #settings: TransportSettings

  constructor(settings: TransportSettings) {
    this.#settings = settings
    this.apiUrl = settings.apiUrl
    this.timing = settings.timing
  }

  /** Calls the API. Calls `onAttempt` with the number of each attempt, from 0. */
  async call<T>(request: ApiRequest, onAttempt: (number: number) => void = () => {}): Promise<ApiResponse<T>> {
    const attempt = (number: number) => {
      onAttempt(number)
      return this.#callOnce<T>(request)
    }
    return this.#retry(attempt, request.signal, repetitionOf(request))
  }

  /** A call whose response has its result in `data`. */
  async data<T>(request: ApiRequest): Promise<T> {
    return (await this.call<{ data: T }>(request)).body.data
  }

  /** Reads a file into memory. A cut connection starts the file again. */
  async file(url: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
    return this.#retry(async () => {
      const chunks: Uint8Array[] = []
      for await (const chunk of iterate(await this.#openFile(url, signal))) chunks.push(chunk)
      return concatenate(chunks)
    }, signal)
  }

  /** Opens a file as a stream. Only the request is repeated: an error later on ends the stream. */
  async stream(url: string, signal: AbortSignal | undefined): Promise<ReadableStream<Uint8Array>> {
    return this.#retry(() => this.#openFile(url, signal), signal)
  }

  #retry<T>(attempt: (number: number) => Promise<T>, signal: AbortSignal | undefined, repetition: Repetition = 'repeatable'): Promise<T> {
    const { retries, timing } = this.#settings
    return retry(attempt, { retries, timing, signal, repetition })
  }

  async #callOnce<T>(request: ApiRequest): Promise<ApiResponse<T>> {
    const { apiUrl, apiKey, fetch, timeout } = this.#settings
    const { method, path, query, body, idempotencyKey, holdSeconds = 0, signal } = request
    const attempt = new Attempt(timeout, signal)
    try {
      return await attempt.expect(async () => {
        const response = await fetch(`${apiUrl}${path}${toSearch(query)}`, {
          method,
          redirect: 'manual',
          signal: attempt.signal,
          headers: {
            accept: 'application/json',
            ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        if (!response.ok) throw await toResponseError(response)
        return { status: response.status, headers: response.headers, body: parseJson<T>(await response.text(), response) }
      }, holdSeconds * 1_000)
    } finally {
      attempt.release()
    }
  }

  /** The link has its own signature, and may lead to another host, so the API key is not sent. */
  async #openFile(url: string, signal: AbortSignal | undefined): Promise<ReadableStream<Uint8Array>> {
    const { apiUrl, fetch, timeout } = this.#settings
    const attempt = new Attempt(timeout, signal)
    try {
      const response = await attempt.expect(async () => {
        const opened = await fetch(new URL(url, apiUrl), { signal: attempt.signal })
        if (!opened.ok) throw await toResponseError(opened)
        return opened
      })
      return watch(response, attempt)
    } catch (error) {
      attempt.release()
      throw error
    }
  }
}

function parseJson<T>(text: string, { status, headers }: Response): T {
  if (text === '') return undefined as T
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new TintypeError('the response is not JSON. Check that baseUrl is the URL of a Tintype service.', {
      code: 'INVALID_RESPONSE',
      status,
      requestId: headers.get('x-request-id') ?? undefined,
      cause,
    })
  }
}

/** The body of a response. The timeout counts only while a chunk is awaited, not while the reader is busy. */
function watch(response: Response, attempt: Attempt): ReadableStream<Uint8Array> {
  const reader = (response.body ?? new Blob([]).stream()).getReader() as ReadableStreamDefaultReader<Uint8Array>
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await attempt.expect(() => reader.read())
          if (!done) return controller.enqueue(value)
          attempt.release()
          controller.close()
        } catch (error) {
          attempt.release()
          throw error
        }
      },
      async cancel(reason) {
        attempt.release()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Safari cannot iterate over a stream. */
async function* iterate(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
