import type { Route } from '../http/route.ts'
import { batchRoutes } from './batches/routes.ts'
import type { KeysDeps } from './keys/handlers.ts'
import { keyRoutes } from './keys/routes.ts'
import type { ScreenshotsDeps } from './screenshots/deps.ts'
import { screenshotRoutes } from './screenshots/routes.ts'

/** Dependencies of all handlers. */
export interface RoutesDeps extends ScreenshotsDeps, KeysDeps {}

/** Every route of the API, in the order of the OpenAPI document. */
export const routes: readonly Route<RoutesDeps>[] = [...screenshotRoutes, ...batchRoutes, ...keyRoutes]
