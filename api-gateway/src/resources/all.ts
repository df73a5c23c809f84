import type { Route } from '../http/route.ts'
import type { KeysDeps } from './keys/handlers.ts'
import { keyRoutes } from './keys/routes.ts'

/** Dependencies of all handlers. */
export interface RoutesDeps extends KeysDeps {}

/** Every route of the API, in the order of the OpenAPI document. */
export const routes: readonly Route<RoutesDeps>[] = [...keyRoutes]
