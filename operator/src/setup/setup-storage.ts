import { setTimeout as sleep } from 'node:timers/promises'
import { IDENTITIES, type Identity } from '@tintype/crds/records/folders'
import { retry } from '@tintype/crds/runtime/retry'
import { StorageUrl } from '@tintype/crds/runtime/settings'
import { longestRetention, PlansText } from '@tintype/crds/usage/plans'
import { z } from 'zod'
import { RetryableError } from '../controller-runtime/controller.ts'
import { openStorage } from '../storage/storage.ts'
import { expiryDays, type Identities, loadDriver, StoreName, type StoreRoot } from '../stores/driver.ts'

// Run by a Job of the chart after each installation and upgrade, with the root user's password, which no other program has.

const upper = <R extends Identity>(role: R) => role.toUpperCase() as Uppercase<R>

type IdentityVariable = `TINTYPE_${Uppercase<Identity>}_${'ACCESS' | 'SECRET'}_KEY`

function identityVariables(): Record<IdentityVariable, z.ZodString> {
  const entries = IDENTITIES.flatMap((role) => [
    [`TINTYPE_${upper(role)}_ACCESS_KEY`, z.string().min(3)],
    [`TINTYPE_${upper(role)}_SECRET_KEY`, z.string().min(8)],
  ])
  return Object.fromEntries(entries)
}

/** Environment variables of every program that sets up or cleans a bundled store. */
export const storeSettings = {
  /** The bundled store. */
  TINTYPE_STORAGE_KIND: StoreName.default('minio'),
  TINTYPE_STORAGE_BUCKET: z.string().min(3).max(63),
  /** Days after which records, and remaining data of their files, are deleted. */
  TINTYPE_RETENTION_RECORD_DAYS: z.coerce.number().int().positive().default(400),
  /** The plans as JSON. The store keeps files for the longest retention of them. */
  TINTYPE_PLANS: PlansText,
}

export const expiryDaysOf = (read: z.infer<z.ZodObject<typeof storeSettings>>) =>
  expiryDays({ fileDays: longestRetention(read.TINTYPE_PLANS), recordDays: read.TINTYPE_RETENTION_RECORD_DAYS })

const Environment = z.object({
  ...storeSettings,
  TINTYPE_STORAGE_ENDPOINT: StorageUrl,
  TINTYPE_STORAGE_REGION: z.string().min(1),
  TINTYPE_STORAGE_ROOT_USER: z.string().min(3),
  TINTYPE_STORAGE_ROOT_PASSWORD: z.string().min(8),
  ...identityVariables(),
})

const RETRY_MILLISECONDS = 1_000
/** Time limit for retries: a volume may have to be provisioned first. After that the Job retries. */
const RETRY_LIMIT_MILLISECONDS = 120_000

/** Creates the bucket, lets the store delete old objects if it can, and creates the users. Waits for the store to start. */
export async function setupStorage(env: NodeJS.ProcessEnv): Promise<void> {
  const read = Environment.parse(env)
  const target = readTarget(read)
  const driver = await loadDriver(read.TINTYPE_STORAGE_KIND)
  const identities = readIdentities(read)
  const deadline = performance.now() + RETRY_LIMIT_MILLISECONDS
  await retryUntil(deadline, () => openStorage({ ...target.root, bucket: target.bucket }).ensureBucket())
  const days = expiryDaysOf(read)
  await retryUntil(deadline, async () => driver.setExpiry?.(days, target))
  await retryUntil(deadline, () => driver.setIdentities(identities, { ...target, now: new Date() }))
}

/**
 * Deletes a replaced user of the store and its permissions immediately.
 * @param accessKey access key of the user; a missing user is not an error
 * @throws Error when a Secret of the release has this key, so that no program loses its permissions
 */
export async function removeStorageUser(accessKey: string, env: NodeJS.ProcessEnv): Promise<void> {
  const read = Environment.parse(env)
  const used = Object.values(readIdentities(read)).some((identity) => identity.accessKey === accessKey)
  if (used) throw new Error(`${accessKey} is in use. Replace its Secret and run helm upgrade first`)
  const driver = await loadDriver(read.TINTYPE_STORAGE_KIND)
  await driver.removeUser(accessKey, readTarget(read))
}

const readTarget = (read: z.infer<typeof Environment>): { root: StoreRoot; bucket: string } => ({
  root: {
    endpoint: read.TINTYPE_STORAGE_ENDPOINT,
    region: read.TINTYPE_STORAGE_REGION,
    accessKey: read.TINTYPE_STORAGE_ROOT_USER,
    secretKey: read.TINTYPE_STORAGE_ROOT_PASSWORD,
  },
  bucket: read.TINTYPE_STORAGE_BUCKET,
})

function readIdentities(read: z.infer<typeof Environment>): Identities {
  const users = IDENTITIES.map((role) => [
    role,
    { accessKey: read[`TINTYPE_${upper(role)}_ACCESS_KEY`], secretKey: read[`TINTYPE_${upper(role)}_SECRET_KEY`] },
  ])
  const identities = Object.fromEntries(users) as Identities
  const distinct = new Set(Object.values(identities).map(({ accessKey }) => accessKey))
  if (distinct.size < IDENTITIES.length)
    throw new Error('two identities have the same access key. Set a different access-key in each Secret')
  return identities
}

const retryUntil = (deadline: number, step: () => Promise<void>): Promise<void> =>
  retry(step, {
    delayOf: (error) => (error instanceof RetryableError && performance.now() <= deadline ? RETRY_MILLISECONDS : undefined),
    wait: sleep,
  })
