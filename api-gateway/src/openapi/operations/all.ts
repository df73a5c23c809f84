import type { Operation } from '../../http/route.ts'
import { routes } from '../../resources/all.ts'

/** Every operation of the API. */
export const operations: readonly Operation[] = routes
