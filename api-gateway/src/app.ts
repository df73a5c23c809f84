import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
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
import { addDocsRoutes } from './routes/docs.ts'
import { addFileRoutes } from './routes/files.ts'
import { addBatchRoutes } from './routes/v1/batch.ts'
import { addCreateScreenshot } from './routes/v1/create-screenshot.ts'
import { addDefaultWebhookRoutes } from './routes/v1/default-webhook.ts'
import { addDeliveryRoutes, type DeliveriesDeps } from './routes/v1/deliveries.ts'
import type { ScreenshotsDeps } from './routes/v1/deps.ts'
import { addDevicesRoute } from './routes/v1/devices.ts'
import { addKeyRoutes, type KeysDeps } from './routes/v1/keys.ts'
import { addOpenApiRoute } from './routes/v1/openapi.ts'
import { addScreenshotRoutes } from './routes/v1/screenshots.ts'
import { addStatusRoute, type StatusDeps } from './routes/v1/status.ts'
import { addUsageRoute, type UsageDeps } from './routes/v1/usage.ts'
import { addWebhookTestRoute, type WebhookTestDeps } from './routes/v1/webhook-test.ts'
import { addWebhookRoutes, type WebhooksDeps } from './routes/v1/webhooks.ts'
import type { KeyStore, QuotaStore } from './store/ports.ts'

/** All external dependencies of the gateway. Tests pass fakes. */
export interface Deps extends Omit<ScreenshotsDeps, 'metrics'>, TracingDeps, StatusDeps, UsageDeps, KeysDeps, WebhooksDeps {
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
  // After CORS, so that pages can read refusals, and so that preflights need no API key.
  app.after(() => {
    addMethods(app)
    addBodies(app)
    addRequestMetrics(app, deps.metrics)
    addAuth(app, deps)
    addLimits(app, { ...deps, calls: new CallLimits(deps.callsPerMinute) })
  })
  // During shutdown clients should reconnect to another replica.
  app.addHook('onSend', async (_request, reply) => {
    if (deps.draining.aborted) reply.header('connection', 'close')
  })
  for (const prefix of PREFIXES) {
    app.register(
      async (routes) => {
        addCreateScreenshot(routes, deps)
        addBatchRoutes(routes, deps)
        addDevicesRoute(routes)
        addScreenshotRoutes(routes, deps)
        addKeyRoutes(routes, deps)
        addDefaultWebhookRoutes(routes, deps)
        addWebhookRoutes(routes, deps)
        addWebhookTestRoute(routes, deps)
        addDeliveryRoutes(routes, deps)
        addStatusRoute(routes, deps)
        addUsageRoute(routes, deps)
        addOpenApiRoute(routes)
      },
      { prefix },
    )
  }
  app.register(async (routes) => {
    addFileRoutes(routes, deps)
    addDocsRoutes(routes)
  })
  return app
}
