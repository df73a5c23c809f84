import type { Operation } from '../../http/route.ts'
import { keyRoutes } from '../../resources/keys/routes.ts'
import { batchOperations } from './batches.ts'
import { deliveryOperations } from './deliveries.ts'
import { fileOperations } from './files.ts'
import { screenshotOperations } from './screenshots.ts'
import { serviceOperations } from './service.ts'
import { usageOperations } from './usage.ts'
import { webhookOperations } from './webhooks.ts'

/** Every operation of the API. */
export const operations: readonly Operation[] = [
  ...screenshotOperations,
  ...batchOperations,
  ...webhookOperations,
  ...deliveryOperations,
  ...keyRoutes,
  ...usageOperations,
  ...serviceOperations,
  ...fileOperations,
]
