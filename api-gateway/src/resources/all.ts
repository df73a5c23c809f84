import type { Route } from '../http/route.ts'
import { batchRoutes } from './batches/routes.ts'
import type { DeliveriesDeps } from './deliveries/handlers.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { deviceRoutes } from './devices/routes.ts'
import type { FilesDeps } from './files/find-file.ts'
import { fileRoutes } from './files/routes.ts'
import { type KeysDeps, keyRoutes } from './keys/routes.ts'
import { type OpenApiDeps, openApiRoutes } from './openapi/routes.ts'
import type { SchedulesDeps } from './schedules/handlers-of-runs.ts'
import { scheduleRoutes } from './schedules/routes.ts'
import type { ScreenshotsDeps } from './screenshots/deps.ts'
import { screenshotRoutes, videoRoutes } from './screenshots/routes.ts'
import { type StatusDeps, statusRoutes } from './status/routes.ts'
import { type SystemDeps, systemRoutes } from './system/routes.ts'
import type { TakeDeps } from './take/deps.ts'
import { takeRoutes } from './take/routes.ts'
import { type UsageDeps, usageRoutes } from './usage/routes.ts'
import { type WebhooksDeps, webhookRoutes } from './webhooks/routes.ts'

export type RoutesDeps = DeliveriesDeps &
  FilesDeps &
  KeysDeps &
  OpenApiDeps &
  SchedulesDeps &
  ScreenshotsDeps &
  StatusDeps &
  SystemDeps &
  TakeDeps &
  UsageDeps &
  WebhooksDeps

/** Every route of the API, in the order of the OpenAPI document. */
export const routes: readonly Route<RoutesDeps>[] = [
  ...screenshotRoutes,
  ...videoRoutes,
  ...batchRoutes,
  ...takeRoutes,
  ...scheduleRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...keyRoutes,
  ...usageRoutes,
  ...statusRoutes,
  ...systemRoutes,
  ...deviceRoutes,
  ...openApiRoutes,
  ...fileRoutes,
]
