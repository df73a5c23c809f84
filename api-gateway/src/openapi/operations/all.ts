import type { Operation } from '../../http/route.ts'
import { routes } from '../../resources/all.ts'
import { batchOperations } from './batches.ts'
import { screenshotOperations } from './screenshots.ts'

/** Every operation of the API. */
export const operations: readonly Operation[] = [...screenshotOperations, ...batchOperations, ...routes]
