import type { Operation } from '../../http/route.ts'
import { batchRoutes } from '../../resources/batches/routes.ts'
import { keyRoutes } from '../../resources/keys/routes.ts'
import { screenshotRoutes } from '../../resources/screenshots/routes.ts'
import { deliveryOperations } from './deliveries.ts'
import { fileOperations } from './files.ts'
import { serviceOperations } from './service.ts'
import { usageOperations } from './usage.ts'
import { webhookOperations } from './webhooks.ts'

/** Every operation of the API. */
export const operations: readonly Operation[] = [
  ...screenshotRoutes,
  ...batchRoutes,
  ...webhookOperations,
  ...deliveryOperations,
  ...keyRoutes,
  ...usageOperations,
  ...serviceOperations,
  ...fileOperations,
]
