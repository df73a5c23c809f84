import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { BodyBudget } from './bodies/budget.ts'
import { PictureMemory } from './cache/find-picture.ts'
import type { ConsoleFiles } from './console/files.ts'
import { addConsoleRoutes } from './console/routes.ts'
import { Sessions } from './console/sessions.ts'
import { SharedCaptures } from './creation/shared-captures.ts'
import { unescapeAmpersands } from './http/query.ts'
import { addRoutes } from './http/route.ts'
import { addMcpRoute } from './mcp/routes.ts'
import type { Metrics } from './metrics/metrics.ts'
import { addDocsRoutes } from './openapi/docs-routes.ts'
import { addAuth } from './plugins/auth.ts'
import { addBodies } from './plugins/bodies.ts'
import { addErrors, sendError, sendProtocolError } from './plugins/errors.ts'
import { addLimits } from './plugins/limits.ts'
import { addCors, addEntityTags, addMethods, addPipelining, addSingleHeaders } from './plugins/protocol.ts'
import { addRequestId, addRequestMetrics, addTracing, requestIdOf, type TracingDeps } from './plugins/requests.ts'
import { CallLimits, type CallsPerMinute } from './quota/limits.ts'
import { type RoutesDeps, routes } from './resources/all.ts'
import { ParsedLinks } from './resources/take/parsed-link.ts'
import type { KeyStore, QuotaStore } from './store/ports.ts'

/** All external dependencies of the gateway. Tests pass fakes. */
export type Deps = Omit<RoutesDeps, 'buildDocument' | 'metrics' | 'calls' | 'sharedCaptures' | 'pictures' | 'parsedLinks'> &
  TracingDeps &
  GatewayDeps

interface GatewayDeps {
  quota: QuotaStore
  keys: KeyStore
  metrics: Metrics
  log: FastifyBaseLogger
  callsPerMinute: CallsPerMinute
  /** Limit of the pictures of links in memory. */
  linkCacheBytes: number
  /** Limit of the bytes of request bodies that are in progress. */
  bodyBudget: BodyBudget
  /** Origins whose pages may call the API. `*` allows all. */
  corsOrigins: readonly string[]
  /** Ranges of the proxies whose X-Forwarded-For header tells the address of the client. */
  trustedProxies: readonly string[]
  /** Serves the Model Context Protocol at /mcp. */
  hasMcp: boolean
  /** Files of the web console. Undefined: there is no console. */
  console?: ConsoleFiles | undefined
  /** Origin of links to the object store. Undefined: files are downloaded from the gateway. */
  storeOrigin: string | undefined
}

/** A request must be received completely within this time. */
const REQUEST_MILLISECONDS = 60_000

/** Loads the code that builds the OpenAPI document. Without requests for it, a process does not need its memory. */
const buildDocument = async (): Promise<object> => (await import('./openapi/document.ts')).buildDocument()

/** Builds the REST server without listening. `main` listens, and tests call `inject`. */
export function buildApp(deps: Deps): FastifyInstance {
  const app = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    trustProxy: [...deps.trustedProxies],
    rewriteUrl: ({ url }) => unescapeAmpersands(url),
    requestTimeout: REQUEST_MILLISECONDS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
    clientErrorHandler: sendProtocolError,
  })
  const calls = new CallLimits(deps.callsPerMinute)
  const sharedCaptures = new SharedCaptures(deps)
  const pictures = new PictureMemory({ maxBytes: deps.linkCacheBytes, files: deps.files, now: deps.now })
  const sessions = new Sessions(deps)
  const findSessionKey = deps.console && (async (headers: IncomingHttpHeaders) => (await sessions.find(headers))?.apiKey)
  addErrors(app)
  addPipelining(app)
  addRequestId(app)
  addEntityTags(app)
  addTracing(app, deps)
  addCors(app, deps)
  // After CORS, so that pages can read refusals, and so that preflights need no API key.
  app.after(() => {
    addSingleHeaders(app)
    addMethods(app)
    addBodies(app, deps)
    addRequestMetrics(app, deps.metrics)
    addAuth(app, { ...deps, findSessionKey })
    addLimits(app, { ...deps, calls })
  })
  // A client that reads nothing would hold its response for ever.
  app.server.on('connection', (socket: Socket) => deps.downloads.watchConnection(socket))
  // During shutdown clients should reconnect to another replica.
  app.addHook('onSend', async (_request, reply) => {
    if (deps.draining.aborted) reply.header('connection', 'close')
  })
  addRoutes(app, routes, { ...deps, buildDocument, calls, sharedCaptures, pictures, parsedLinks: new ParsedLinks() })
  app.register(async (scope) => addDocsRoutes(scope))
  if (deps.hasMcp) app.register(async (scope) => addMcpRoute(scope, deps))
  const { console: files } = deps
  if (files) app.register(async (scope) => addConsoleRoutes(scope, { ...deps, console: files, sessions }))
  return app
}
