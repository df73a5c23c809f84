import type { Client, LifecycleConfig, LifecycleRule } from 'minio'
import { RetryableError } from '../../controller-runtime/errors.ts'
import type { ExpiryDays } from '../driver.ts'

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
export async function setLifecycle(client: Client, bucket: string, days: ExpiryDays): Promise<void> {
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
