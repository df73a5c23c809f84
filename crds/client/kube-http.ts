/**
 * Requests to the API server over shared connections. client-node opens a TLS connection for each call.
 *
 * There are two undici agents, because the time limits differ: watches have no body timeout and one connection each, while
 * reads and writes share a small pool. Only HTTP/1.1 is used: other projects report memory leaks with HTTP/2 watches, and a lost packet would
 * stall all watches of a connection.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import { FencedError, fence, type MayWrite } from '../src/runtime/fence.ts'
import { readAtMost, TooLongError } from '../src/runtime/limited-read.ts'
import { doubled, retry } from '../src/runtime/retry.ts'
import type { ClusterAccess, Credentials, TlsMaterial } from './cluster-access.ts'
import { isTransient, KubeError, toKubeError } from './kube-error.ts'

/** One finished attempt: feeds `rest_client_requests_total{code,method,host}` and `rest_client_request_duration_seconds{verb,host}`. */
export type RequestRecord = {
  method: string
  host: string
  /** The HTTP status, or `<error>` without a response, as in client-go. */
  code: string
  durationSeconds: number
  /** The header Date of the response: the API server's clock, to the second. */
  date?: string | undefined
  verb: string
  /** The plural name of the kind, or empty. */
  resource: string
}

/** `onRequest` is called after each attempt. */
export type KubeHttpOptions = {
  onRequest?: (record: RequestRecord) => void
  userAgent?: string
  /** Maximum connections for reads and writes. */
  connections?: number
  /** Default time limit of a whole call with its retries. */
  timeoutMilliseconds?: number
  /** Time limit of one attempt of a retryable call, so that a dead connection does not use the whole time. */
  attemptTimeoutMilliseconds?: number
}

/**
 * When to retry a failed attempt within the time limit of the call: `always` (even if the outcome is unknown; the default for GET, PUT and DELETE),
 * `unsent` (only if the request was not executed: 429 and refused connections), or `never`.
 */
export type Repeat = 'always' | 'unsent' | 'never'

export type KubeRequest = {
  method: string
  path: string
  query?: Query | undefined
  body?: unknown
  contentType?: string | undefined
  signal?: AbortSignal | undefined
  timeoutMilliseconds?: number | undefined
  repeat?: Repeat | undefined
  /** Limit of the response. */
  maxBytes?: number | undefined
  /** Called with the size of the response. */
  onBytes?: ((bytes: number) => void) | undefined
  verb?: string | undefined
  resource?: string | undefined
}

export type Query = Record<string, string | number | boolean | undefined>

/** The chunks of a watch body. `destroy` ends it immediately. */
export type KubeStream = AsyncIterable<Buffer> & { destroy(): void }

type Agents = { tls: TlsMaterial; calls: Dispatcher; watches: Dispatcher }
type Fenced = { shared: { agents?: Agents | undefined }; mayWrite?: MayWrite }

const DEFAULT_TIMEOUT_MILLISECONDS = 30_000
const DEFAULT_ATTEMPT_TIMEOUT_MILLISECONDS = 10_000
const DEFAULT_CONNECTIONS = 32
const FIRST_DELAY_MILLISECONDS = 100
const MAX_DELAY_MILLISECONDS = 3_000
/** The API server closes idle connections after 90 seconds. The client closes them earlier, so that no request uses a closing connection. */
const KEEP_ALIVE_MILLISECONDS = 60_000
const WATCH_HEADERS_MILLISECONDS = 30_000
const IDEMPOTENT_METHODS = new Set(['GET', 'PUT', 'DELETE'])

/** HTTP client of an API server. Create one per process, because it holds the connections. */
export class KubeHttp {
  readonly namespace: string
  readonly host: string
  readonly #access: ClusterAccess
  readonly #options: KubeHttpOptions
  readonly #basePath: string
  readonly #origin: string
  readonly #shared: { agents?: Agents | undefined }
  readonly #mayWrite: MayWrite | undefined
  /** The connections with the fence of a writer. */
  #writer: { calls: Dispatcher; fenced: Dispatcher } | undefined

  constructor(access: ClusterAccess, options: KubeHttpOptions = {}, fenced: Fenced = { shared: {} }) {
    const url = new URL(access.server)
    this.#access = access
    this.#options = options
    this.#shared = fenced.shared
    this.#mayWrite = fenced.mayWrite
    this.#origin = url.origin
    this.#basePath = url.pathname.replace(/\/$/, '')
    this.namespace = access.namespace
    this.host = url.host
  }

  /** The same client and connections for a writer. Each attempt of a write throws a FencedError once `mayWrite` returns false. */
  fenced(mayWrite: MayWrite): KubeHttp {
    return new KubeHttp(this.#access, this.#options, { shared: this.#shared, mayWrite })
  }

  /**
   * Makes one call with retries within `timeoutMilliseconds`. Resolves with the parsed JSON body.
   * @throws KubeError if the API server refuses or does not respond; the signal's reason if the caller aborts; FencedError; TooLongError
   */
  async request<T>(request: KubeRequest): Promise<T> {
    const timeoutMilliseconds = request.timeoutMilliseconds ?? this.#options.timeoutMilliseconds ?? DEFAULT_TIMEOUT_MILLISECONDS
    const deadline = performance.now() + timeoutMilliseconds
    const repeat = request.repeat ?? (IDEMPOTENT_METHODS.has(request.method) ? 'always' : 'unsent')
    const { signal } = request
    let refresh = false
    const work = async () => {
      signal?.throwIfAborted()
      return this.#attempt(request, this.#attemptMilliseconds(deadline, repeat), refresh)
    }
    const delayOf = (error: unknown, attempt: number): number | undefined => {
      signal?.throwIfAborted()
      // The token may have been rotated. Read its file again, once.
      if (error instanceof KubeError && error.status === 401 && !refresh) {
        refresh = true
        return 0
      }
      if (!mayRepeat(error, repeat)) return undefined
      const delay = delayMilliseconds(error, attempt)
      return performance.now() + delay >= deadline ? undefined : delay
    }
    const wait = (milliseconds: number) => sleep(milliseconds, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted())
    const text = await retry(work, { delayOf, wait })
    return (text === '' ? undefined : JSON.parse(text)) as T
  }

  /**
   * Opens a watch. Resolves when the response headers arrive. Does not retry, because the caller knows the resourceVersion to resume from.
   * @throws KubeError if the API server refuses or does not respond
   */
  async stream({ path, query, signal, resource = '' }: Pick<KubeRequest, 'path' | 'query' | 'signal' | 'resource'>): Promise<KubeStream> {
    const { agents, headers } = await this.#prepare(false)
    const started = performance.now()
    const record = (code: string) => this.#record({ method: 'GET', verb: 'watch', resource, code }, started)
    try {
      const options = { origin: this.#origin, path: this.#pathOf(path, query), method: 'GET', headers, signal: signal ?? null } as const
      const { statusCode, headers: answered, body } = await agents.watches.request(options)
      record(String(statusCode))
      if (statusCode !== 200) throw toKubeError(statusCode, await body.text(), headerOf(answered, 'retry-after'))
      // A destroyed body emits an error. The iterating code receives it, so this handler only prevents an uncaught error.
      body.on('error', () => {})
      return body
    } catch (error) {
      if (error instanceof KubeError) throw error
      signal?.throwIfAborted()
      record('<error>')
      throw toConnectionError(error, `watch ${path}`)
    }
  }

  /** Closes all connections, including watches. */
  async close(): Promise<void> {
    const { agents } = this.#shared
    this.#shared.agents = undefined
    await Promise.all([agents?.calls.destroy(), agents?.watches.destroy()])
  }

  async #attempt(request: KubeRequest, milliseconds: number, refresh: boolean): Promise<string> {
    const { method, path, query, body, contentType = 'application/json', signal, maxBytes = Number.POSITIVE_INFINITY } = request
    const { agents, headers } = await this.#prepare(refresh)
    const started = performance.now()
    const timeout = AbortSignal.timeout(Math.max(1, Math.ceil(milliseconds)))
    let code = '<error>'
    let date: string | undefined
    try {
      const dispatcher = method === 'GET' ? agents.calls : this.#writerOf(agents.calls)
      const answer = await dispatcher.request({
        origin: this.#origin,
        path: this.#pathOf(path, query),
        method: method as Dispatcher.HttpMethod,
        headers: body === undefined ? headers : { ...headers, 'content-type': contentType },
        body: body === undefined ? null : JSON.stringify(body),
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        // By default, undici closes the connection after a DELETE with a body. Preconditions need such a body, and the API server reads it.
        reset: false,
      })
      code = String(answer.statusCode)
      date = headerOf(answer.headers, 'date')
      const received = await readAtMost(answer.body, maxBytes)
      request.onBytes?.(received.length)
      const text = received.toString()
      if (answer.statusCode >= 300) throw toKubeError(answer.statusCode, text, headerOf(answer.headers, 'retry-after'))
      return text
    } catch (error) {
      if (error instanceof KubeError || error instanceof FencedError || error instanceof TooLongError) throw error
      code = '<error>'
      throw toConnectionError(error, `${method} ${path}`)
    } finally {
      this.#record({ method, verb: request.verb ?? method.toLowerCase(), resource: request.resource ?? '', code, date }, started)
    }
  }

  #writerOf(calls: Dispatcher): Dispatcher {
    if (!this.#mayWrite) return calls
    if (this.#writer?.calls !== calls) this.#writer = { calls, fenced: calls.compose(fence(this.#mayWrite)) }
    return this.#writer.fenced
  }

  #attemptMilliseconds(deadline: number, repeat: Repeat): number {
    const left = deadline - performance.now()
    return repeat === 'always' ? Math.min(left, this.#options.attemptTimeoutMilliseconds ?? DEFAULT_ATTEMPT_TIMEOUT_MILLISECONDS) : left
  }

  async #prepare(refresh: boolean): Promise<{ agents: Agents; headers: Record<string, string> }> {
    const credentials = await this.#access.credentials({ refresh })
    return { agents: this.#agentsFor(credentials), headers: { ...this.#headers(), ...credentials.headers } }
  }

  #headers(): Record<string, string> {
    return { accept: 'application/json', 'user-agent': this.#options.userAgent ?? 'tintype' }
  }

  /** New TLS material (a rotated CA or client certificate) needs new agents. The old ones close after their last call. */
  #agentsFor({ tls }: Credentials): Agents {
    const { agents: old } = this.#shared
    if (old?.tls === tls) return old
    const connect = {
      ...tls,
      allowH2: false,
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
      timeout: DEFAULT_ATTEMPT_TIMEOUT_MILLISECONDS,
    }
    const build = (options: Agent.Options): Dispatcher => {
      const { proxyUrl } = this.#access
      return proxyUrl ? new ProxyAgent({ ...options, uri: proxyUrl, requestTls: connect }) : new Agent({ ...options, connect })
    }
    const agents = {
      tls,
      calls: build({
        allowH2: false,
        connections: this.#options.connections ?? DEFAULT_CONNECTIONS,
        keepAliveTimeout: KEEP_ALIVE_MILLISECONDS,
      }),
      watches: build({ allowH2: false, bodyTimeout: 0, headersTimeout: WATCH_HEADERS_MILLISECONDS }),
    }
    this.#shared.agents = agents
    void old?.calls.close()
    void old?.watches.close()
    return agents
  }

  #pathOf(path: string, query: Query = {}): string {
    const wanted = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
    return `${this.#basePath}${path}${wanted.length === 0 ? '' : `?${new URLSearchParams(wanted)}`}`
  }

  #record(fields: Omit<RequestRecord, 'host' | 'durationSeconds'>, started: number): void {
    this.#options.onRequest?.({ ...fields, host: this.host, durationSeconds: (performance.now() - started) / 1_000 })
  }
}

function mayRepeat(error: unknown, repeat: Repeat): boolean {
  if (repeat === 'never' || !isTransient(error)) return false
  return repeat === 'always' || error.status === 429 || error.reason === 'Refused'
}

/** Exponential backoff with jitter, or slightly more than the server's Retry-After. */
function delayMilliseconds(error: unknown, attempt: number): number {
  if (error instanceof KubeError && error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1_000 + Math.random() * 200
  const ceiling = doubled(FIRST_DELAY_MILLISECONDS, MAX_DELAY_MILLISECONDS, attempt + 1)
  return ceiling * (0.5 + Math.random() / 2)
}

/** The message of Node.js for a connection that ends in the TLS handshake. Its code is ECONNRESET, as after a request. */
const ENDED_IN_HANDSHAKE = /before secure TLS connection was established/
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENETUNREACH'])

/** `Refused` means that the request was not executed. `TimedOut` and `Unreachable` mean that it may have been. */
function toConnectionError(error: unknown, what: string): KubeError {
  const { name, code, message = '' } = error as { name?: string; code?: string; message?: string }
  const isUnsent = NEVER_SENT.has(code ?? '') || ENDED_IN_HANDSHAKE.test(message)
  const reason = isUnsent ? 'Refused' : name === 'TimeoutError' ? 'TimedOut' : 'Unreachable'
  return new KubeError({ status: 0, reason, message: `${what}: no response from the API server (${code ?? name})`, cause: error })
}

function headerOf(headers: Record<string, string | string[] | undefined>, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}
