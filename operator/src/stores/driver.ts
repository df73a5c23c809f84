import type { Identity } from '@tintype/crds/records/folders'
import { z } from 'zod'

// A store that the chart can install. Each has a folder beside this file, with what is peculiar to it. All of them speak S3.

/** The chart value `store`: the name of a folder beside this file. */
export const StoreName = z.string().regex(/^[a-z0-9]+$/)

/** Loads `driver.ts` of a store's folder. esbuild bundles each of them. @throws if there is no such folder */
export async function loadDriver(store: string): Promise<StoreDriver> {
  const { driver } = (await import(`./${store}/driver.ts`)) as { driver: StoreDriver }
  return driver
}

/** A store and its root user. */
export interface StoreRoot {
  endpoint: string
  region: string
  accessKey: string
  secretKey: string
}

/** A user of the store. */
export interface StoreUser {
  accessKey: string
  secretKey: string
}

/** The current keys of the programs. */
export type Identities = Readonly<Record<Identity, StoreUser>>

/** The store whose users are set. */
export interface Target {
  root: StoreRoot
  bucket: string
  now: Date
}

/** Days after which objects are deleted, by folder of the bucket. */
export type ExpiryDays = Readonly<Record<string, number>>

/** Every method can be repeated, and throws a RetryableError or a TerminalError. */
export interface StoreDriver {
  /** Creates a user for each program with the rights of its folders, and retires the users that were replaced. */
  setIdentities(identities: Identities, target: Target): Promise<void>
  /** Deletes a user and its rights immediately. A missing user is no error. */
  removeUser(accessKey: string, target: Pick<Target, 'root' | 'bucket'>): Promise<void>
  /** Makes the store delete old objects. Absent: it has no such rules, and `expireFiles` runs beside it. */
  setExpiry?(days: ExpiryDays, target: Pick<Target, 'root' | 'bucket'>): Promise<void>
  /** Deletes old objects from the store's volume once. Absent: the store itself deletes them. */
  expireFiles?(bucketDirectory: string, days: ExpiryDays, now: Date): Promise<ExpiryResult>
}

/** Counts of one round of deletions. */
export interface ExpiryResult {
  files: number
  directories: number
}
