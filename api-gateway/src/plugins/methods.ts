import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../common/errors.ts'

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
