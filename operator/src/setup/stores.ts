import type { StoreDriver } from '../stores/driver.ts'
import { minio } from '../stores/minio/driver.ts'
import { versitygw } from '../stores/versitygw/driver.ts'

/** The stores that the chart can install, by the chart value `store`. */
export const DRIVERS = { minio, versitygw } satisfies Record<string, StoreDriver>

export type StoreName = keyof typeof DRIVERS
export const STORE_NAMES = Object.keys(DRIVERS) as StoreName[]
