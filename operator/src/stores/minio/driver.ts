import {
  type Condition,
  FOLDERS,
  type Folder,
  IDENTITIES,
  type Identity,
  inFolders,
  type Policy,
  policyOf,
  type Statement,
} from '@tintype/crds/records/folders'
import { lazyBucketClient } from '@tintype/crds/storage/s3/bucket-client'
import type { Client, LifecycleConfig, LifecycleRule } from 'minio'
import { RetryableError } from '../../controller-runtime/controller.ts'
import type { ExpiryDays, Identities, StoreDriver, Target } from '../driver.ts'
import { attachPolicy, listUsers, putPolicy, putUser, removePolicy, removeUser } from './admin.ts'

const TIMEOUT_MILLISECONDS = 10_000

/** MinIO: users have policies, and the bucket has lifecycle rules. */
export const driver: StoreDriver = {
  setIdentities,
  removeUser: (accessKey, { root }) => removeUser(root, accessKey),
  setExpiry: async (days, { root, bucket }) => setLifecycle(await lazyBucketClient(root, TIMEOUT_MILLISECONDS)(), bucket, days),
}

// Lifecycle rules of the store. They delete objects that are not needed after some days, and objects that crashes left.

/** Prefix of the ids of Tintype's rules. Other rules are not changed. */
const OWN = 'tintype-'

const rule = (folder: string, days: number): LifecycleRule => ({
  ID: `${OWN}${folder}`,
  Status: 'Enabled',
  Filter: { Prefix: `${folder}/` },
  Expiration: { Days: days } as NonNullable<LifecycleRule['Expiration']>,
})

/**
 * Returns all rules of the bucket, with Tintype's rules updated. The operator deletes files by their plan, and records, because it knows
 * their dates. The store's rule for files covers those that the operator does not know, so it uses the longest plan.
 */
export function withOwnRules(found: readonly LifecycleRule[], days: ExpiryDays): LifecycleConfig {
  const own = Object.entries(days).map(([folder, count]) => rule(folder, count))
  return { Rule: [...found.filter(({ ID = '' }) => !ID.startsWith(OWN)), ...own] }
}

/** Sets Tintype's rules and keeps others. MinIO deletes incomplete uploads itself after a day. @throws RetryableError */
async function setLifecycle(client: Client, bucket: string, days: ExpiryDays): Promise<void> {
  try {
    await client.setBucketLifecycle(bucket, withOwnRules(await findRules(client, bucket), days))
  } catch (cause) {
    throw new RetryableError('set the lifecycle of the bucket', { cause })
  }
}

async function findRules(client: Client, bucket: string): Promise<LifecycleRule[]> {
  try {
    // A single rule is parsed as an object.
    const { Rule: rules } = ((await client.getBucketLifecycle(bucket)) ?? { Rule: [] }) as { Rule: LifecycleRule | LifecycleRule[] }
    return [rules].flat()
  } catch (error) {
    if ((error as { code?: string }).code === 'NoSuchLifecycleConfiguration') return []
    throw error
  }
}

// Users of the bundled MinIO. The users of Tintype are identified by their policies, so that a key that was replaced manually, by a new
// Secret or by an upgrade is found and retired.

/**
 * Creates the users, retires replaced ones and deletes those whose retirement period is over. Idempotent.
 * @throws RetryableError, TerminalError
 */
export async function setIdentities(identities: Identities, { root, bucket, now }: Target): Promise<void> {
  // Retire first, so that no program loses permissions in between: a retired user keeps its own for an hour.
  await retireOthers(identities, { root, bucket, now })
  for (const role of IDENTITIES) {
    await putPolicy(root, policyName(role), policyOf(role, bucket))
    await putUser(root, identities[role])
    await attachPolicy(root, policyName(role), identities[role].accessKey)
  }
}

async function retireOthers(identities: Identities, { root, bucket, now }: Target): Promise<void> {
  const current = new Set(Object.values(identities).map(({ accessKey }) => accessKey))
  // Users that were retired in the same second share a policy. MinIO does not delete a policy that is attached to a user.
  const expired = new Set<string>()
  for (const { accessKey, policyName: attached } of await listUsers(root)) {
    if (current.has(accessKey)) continue
    const role = IDENTITIES.find((role) => policyName(role) === attached)
    if (role) {
      const name = retiredPolicyName(role, now)
      await putPolicy(root, name, retiredPolicy(role, bucket, now))
      await attachPolicy(root, name, accessKey)
      continue
    }
    const retired = parseRetiredName(attached)
    if (!retired || now.getTime() - retired.retiredAt.getTime() < RETIRED_MILLISECONDS) continue
    await removeUser(root, accessKey)
    expired.add(attached)
  }
  for (const policy of expired) await removePolicy(root, policy)
}

// Names of the identities' policies in the bundled MinIO, and the policies of replaced identities.

const HOUR_MILLISECONDS = 3_600_000
/** Pods with the old key end within this time, and uploads that were signed with it expire. */
const ROLLOUT_MILLISECONDS = HOUR_MILLISECONDS
/** The longest lifetime of a presigned URL. */
const RETIRED_MILLISECONDS = 7 * 24 * HOUR_MILLISECONDS

/** A condition that holds until a time, in milliseconds since 1970. */
const until = (at: number): Condition => ({ DateLessThan: { 'aws:CurrentTime': new Date(at).toISOString().replace(/\.\d{3}/, '') } })

/** Policy of an identity that was replaced: all its permissions for an hour, then reading files until its last URLs expire. */
export function retiredPolicy(role: Identity, bucket: string, retiredAt: Date): Policy {
  const allowed = policyOf(role, bucket).Statement.map((statement) =>
    statement.Effect === 'Deny' ? statement : { ...statement, Condition: until(retiredAt.getTime() + ROLLOUT_MILLISECONDS) },
  )
  const rights: Folder['rights'] = FOLDERS.users.rights
  const links: Statement = {
    Effect: 'Allow',
    Action: ['s3:GetObject'],
    Resource: inFolders(bucket, ['users']),
    Condition: until(retiredAt.getTime() + RETIRED_MILLISECONDS),
  }
  return { Version: '2012-10-17', Statement: [...allowed, ...(rights[role]?.includes('get') ? [links] : [])] }
}

/** Name of a role's policy in the store. */
export const policyName = (role: Identity): string => `tintype-${role}`

/** Name of the policy of a replaced identity. It contains the time of the replacement. */
export const retiredPolicyName = (role: Identity, retiredAt: Date): string =>
  `tintype-retired-${role}-${Math.floor(retiredAt.getTime() / 1_000)}`

const RETIRED_NAME = new RegExp(`^tintype-retired-(${IDENTITIES.join('|')})-(\\d{10})$`)

/** Parses a name of {@link retiredPolicyName}; undefined for other names. */
export function parseRetiredName(name: string): { role: Identity; retiredAt: Date } | undefined {
  const [, role, seconds] = RETIRED_NAME.exec(name) ?? []
  return role && seconds ? { role: role as Identity, retiredAt: new Date(Number(seconds) * 1_000) } : undefined
}
