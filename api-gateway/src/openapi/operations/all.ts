import { batchOperations } from './batches.ts'
import { deliveryOperations } from './deliveries.ts'
import { fileOperations } from './files.ts'
import { keyOperations } from './keys.ts'
import type { Operation } from './operation.ts'
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
  ...keyOperations,
  ...usageOperations,
  ...serviceOperations,
  ...fileOperations,
]
