import type { Operation } from '../operation.ts'
import { batchOperations } from './batches.ts'
import { fileOperations } from './files.ts'
import { screenshotOperations } from './screenshots.ts'
import { serviceOperations } from './service.ts'
import { usageOperations } from './usage.ts'

/** Every operation of the API. */
export const operations: readonly Operation[] = [
  ...screenshotOperations,
  ...batchOperations,
  ...usageOperations,
  ...serviceOperations,
  ...fileOperations,
]
