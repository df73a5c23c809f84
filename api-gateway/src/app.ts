import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { addRoutes } from './http/add-routes.ts'
import type { Metrics } from './metrics/metrics.ts'
import { addAuth } from './plugins/auth.ts'
import { addBodies, MAX_BODY_BYTES } from './plugins/bodies.ts'
import { addCors } from './plugins/cors.ts'
import { addErrors, sendError, sendProtocolError } from './plugins/errors.ts'
import { addLimits } from './plugins/limits.ts'
import { addMethods } from './plugins/methods.ts'
import { addRequestId, requestIdOf } from './plugins/request-id.ts'
import { addRequestMetrics } from './plugins/request-metrics.ts'
import { addTracing, type TracingDeps } from './plugins/tracing.ts'
import { CallLimits, type CallsPerMinute } from './quota/call-limits.ts'
import { type RoutesDeps, routes } from './resources/all.ts'
import type { ScreenshotsDeps } from './resources/screenshots/deps.ts'
import { addDocsRoutes } from './routes/docs.ts'
import { addFileRoutes } from './routes/files.ts'
import { addDefaultWebhookRoutes } from './routes/v1/default-webhook.ts'
import { addDeliveryRoutes, type DeliveriesDeps } from './routes/v1/deliveries.ts'
import { addDevicesRoute } from './routes/v1/devices.ts'
import { addOpenApiRoute } from './routes/v1/openapi.ts'
import { addStatusRoute, type StatusDeps } from './routes/v1/status.ts'
import { addUsageRoute, type UsageDeps } from './routes/v1/usage.ts'
import { addWebhookTestRoute, type WebhookTestDeps } from './routes/v1/webhook-test.ts'
import { addWebhookRoutes, type WebhooksDeps } from './routes/v1/webhooks.ts'
import type { KeyStore, QuotaStore } from './store/ports.ts'

/** All external dependencies of the gateway. Tests pass fakes. */
export interface Deps extends Omit<ScreenshotsDeps, 'metrics'>, TracingDeps, StatusDeps, UsageDeps, RoutesDeps, WebhooksDeps {
  postRequests: DeliveriesDeps['postRequests'] & WebhookTestDeps['postRequests']
  screenshots: ScreenshotsDeps['screenshots']
  objects: DeliveriesDeps['objects'] & ScreenshotsDeps['objects']
  quota: QuotaStore
  keys: KeyStore
  metrics: Metrics
  log: FastifyBaseLogger
  callsPerMinute: CallsPerMinute
  /** Origins whose pages may call the API. `*` allows all. */
  corsOrigins: readonly string[]
}

/** A request must be received completely within this time. */
const REQUEST_MILLISECONDS = 60_000
/** Every route exists under both prefixes. */
const PREFIXES = ['/api/v1', '/v1']

/** Builds the REST server without listening. `main` listens, and tests call `inject`. */
export function buildApp(deps: Deps): FastifyInstance {
  const app = Fastify({
    loggerInstance: deps.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_MILLISECONDS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    frameworkErrors: sendError,
    clientErrorHandler: sendProtocolError,
  })
  addErrors(app)
  addRequestId(app)
  addTracing(app, deps)
  addCors(app, deps)
  addMethods(app)
  addBodies(app)
  addRequestMetrics(app, deps.metrics)
  addAuth(app, deps)
  addLimits(app, { ...deps, calls: new CallLimits(deps.callsPerMinute) })
  // During shutdown clients should reconnect to another replica.
  app.addHook('onSend', async (_request, reply) => {
    if (deps.draining.aborted) reply.header('connection', 'close')
  })
  addRoutes(app, routes, deps)
  for (const prefix of PREFIXES) {
    app.register(
      async (scope) => {
        addDevicesRoute(scope)
        addDefaultWebhookRoutes(scope, deps)
        addWebhookRoutes(scope, deps)
        addWebhookTestRoute(scope, deps)
        addDeliveryRoutes(scope, deps)
        addStatusRoute(scope, deps)
        addUsageRoute(scope, deps)
        addOpenApiRoute(scope)
      },
      { prefix },
    )
  }
  app.register(async (scope) => {
    addFileRoutes(scope, deps)
    addDocsRoutes(scope)
  })
  return app
}
