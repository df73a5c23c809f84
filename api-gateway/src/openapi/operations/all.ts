import type { Operation } from '../operation.ts'
import { fileOperations } from './files.ts'
import { screenshotOperations } from './screenshots.ts'
import { serviceOperations } from './service.ts'

/** Every operation of the API. */
export const operations: readonly Operation[] = [...screenshotOperations, ...serviceOperations, ...fileOperations]
