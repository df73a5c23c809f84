import type { Socket } from 'node:net'
import cors from '@fastify/cors'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError, invalid } from '../common/errors.ts'

interface KnownPath {
  url: string
  pattern: RegExp
  methods: Set<string>
}

/** Regular expression for a route such as `/v1/screenshots/:id`. */
const toPattern = (url: string): RegExp => {
  const escaped = url.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`^${escaped.replaceAll(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`)
}

const isExact = (url: string): boolean => !/[:*]/.test(url)

/** Collects the methods of each path while routes are added. */
class KnownPaths {
  readonly #known = new Map<string, KnownPath>()

  add(url: string, methods: readonly string[]): void {
    const known = this.#known.get(url) ?? { url, pattern: toPattern(url), methods: new Set(['OPTIONS']) }
    for (const method of methods) known.methods.add(method)
    this.#known.set(url, known)
  }

  /** Sorted methods of a path, empty for an unknown path. A static path such as `/screenshots/batch` does not match `/screenshots/:id`. */
  methodsOf(path: string): string[] {
    const exact = this.#known.get(path)
    const all = exact ? [exact] : [...this.#known.values()].filter(({ pattern }) => pattern.test(path))
    return [...new Set(all.flatMap(({ methods }) => [...methods]))].sort()
  }

  /** True for a static path that Fastify matched with a parameterized route. */
  isShadowed(path: string, routeUrl: string | undefined): boolean {
    return routeUrl !== undefined && !isExact(routeUrl) && this.#known.has(path)
  }
}

/** Characters of the path that an error message quotes. */
const MAX_QUOTED_PATH = 200

const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? ''

/** The query is left out, because it may contain a signature. */
const noRoute = (request: FastifyRequest): ApiError =>
  new ApiError(
    'NOT_FOUND',
    `No route matches ${request.method} ${pathOf(request).slice(0, MAX_QUOTED_PATH)}. See /docs for the API reference.`,
  )

/**
 * Responds with 405 and Allow to a known path with a wrong method, and with 204 and Allow to OPTIONS. Fastify itself responds with 404 to both.
 * Runs before authentication and before the body is read. Must be added before the routes.
 */
export function addMethods(app: FastifyInstance): void {
  const paths = new KnownPaths()
  app.addHook('onRoute', ({ url, method }) => paths.add(url, [method].flat()))
  app.addHook('onRequest', async (request, reply) => {
    const path = pathOf(request)
    const isOptions = request.method === 'OPTIONS'
    // With CORS, one route of its plugin matches OPTIONS of every path.
    if (!request.is404 && !isOptions && !paths.isShadowed(path, request.routeOptions.url)) return
    const methods = paths.methodsOf(path)
    if (methods.length === 0) throw noRoute(request)
    const headers = { allow: methods.join(', ') }
    if (isOptions) return reply.code(204).headers(headers).send()
    throw new ApiError('METHOD_NOT_ALLOWED', `this path does not support ${request.method}: the Allow header lists its methods`, {
      headers,
    })
  })
  app.setNotFoundHandler((request) => {
    throw noRoute(request)
  })
}

/** Headers that a request has at most once, and how several look after a proxy has joined them. */
const SINGLE: ReadonlyMap<string, RegExp> = new Map([
  ['host', /,/],
  ['authorization', /^bearer\b.*,/i],
])

/** The name of a header that must not be repeated, and is. `rawHeaders` has names and values in turn. */
function findRepeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    const joined = SINGLE.get(name.toLowerCase())
    if (joined && (seen.has(name.toLowerCase()) || joined.test(rawHeaders[index + 1] ?? ''))) return name
    if (joined) seen.add(name.toLowerCase())
  }
  return undefined
}

/** Refuses repeated headers. Node.js reads the first one, and a proxy may have checked another. */
export function addSingleHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { rawHeaders } }, _, done) => {
    const name = findRepeated(rawHeaders)
    if (name === undefined) return done()
    done(invalid([{ path: '', code: 'duplicate', message: `the request has more than one header ${name}: send one` }]))
  })
}

/** Requests of one connection that may wait for earlier ones. HTTP clients rarely send a request before they have read the last response. */
export const MAX_WAITING = 64

/**
 * Handles the requests of a connection one after the other. Node.js starts all requests of a packet at once, although their responses have to be sent in
 * order: a thousand requests for a file then open it a thousand times. Must be added before all other hooks.
 */
export function addPipelining(app: FastifyInstance): void {
  const waitingOf = new WeakMap<Socket, (() => void)[]>()
  const startNext = (socket: Socket): void => {
    const next = socket.destroyed ? undefined : waitingOf.get(socket)?.shift()
    if (next) next()
    else waitingOf.delete(socket)
  }
  app.addHook('onRequest', ({ raw: { socket } }, reply, done) => {
    // The response emits `close` when it was sent, and when its connection is gone.
    const start = (): void => {
      reply.raw.once('close', () => startNext(socket))
      done()
    }
    const waiting = waitingOf.get(socket)
    if (!waiting) {
      waitingOf.set(socket, [])
      start()
    } else if (waiting.length < MAX_WAITING) waiting.push(start)
    else socket.destroy()
  })
}

/** Response headers that pages of allowed origins can read. */
const EXPOSED_HEADERS = [
  'ETag',
  'Idempotent-Replayed',
  'Location',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Ignored-Options',
  'X-Queue-Position',
  'X-Quota-Limit',
  'X-Quota-Remaining',
  'X-Quota-Reset',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
]
const ALLOWED_HEADERS = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'If-Match', 'If-None-Match', 'Prefer', 'Range', 'X-Request-Id'],
  ...['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'],
]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const PREFLIGHT_SECONDS = 600

/**
 * Lets pages of the configured origins call the API. Off by default, because every visitor of a page can read an API key in it. The plugin adds
 * its hook when the app starts, so hooks that must run later, such as authentication, must be added in `app.after`.
 */
export function addCors(app: FastifyInstance, { corsOrigins }: { corsOrigins: readonly string[] }): void {
  if (corsOrigins.length === 0) return
  app.register(cors, {
    // A list would send the allowed methods and headers to pages of all origins.
    origin: corsOrigins.includes('*')
      ? '*'
      : (origin, done) => done(null, origin !== undefined && corsOrigins.includes(origin) ? origin : false),
    methods: METHODS,
    allowedHeaders: ALLOWED_HEADERS,
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: PREFLIGHT_SECONDS,
    // addMethods responds to every OPTIONS request, with Allow. It rejects unknown paths.
    preflightContinue: true,
    strictPreflight: false,
  })
}

/**
 * Keeps the entity tags of records and files. A proxy that compresses a response removes its strong tag (Envoy) or makes it weak (nginx), and the client
 * could then send no condition. `no-transform` forbids that. Public documents stay compressible, and lists have no tag.
 */
export function addEntityTags(app: FastifyInstance): void {
  app.addHook('onSend', async (_request, reply) => {
    const cacheControl = reply.getHeader('cache-control')
    if (typeof cacheControl !== 'string' || !cacheControl.startsWith('private') || !reply.hasHeader('etag')) return
    reply.header('cache-control', `${cacheControl}, no-transform`)
  })
}
