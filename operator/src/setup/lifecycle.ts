import type { Client, LifecycleConfig, LifecycleRule } from 'minio'
import { retryable } from '../storage/objects.ts'

// What the store itself removes after some days: objects that nobody needs any longer than that, and what crashes have left.

/** Names of our rules begin so; all other rules are somebody else's and stay. */
const OWN = 'tintype-'

/** Days by prefix. */
const DAYS = {
  /** Bodies of events: retries end within minutes, redelivery is offered for a week. */
  events: 7,
  /** What endpoints answered; of a busy one less is kept. */
  deliveries: 7,
  /** A key is remembered for 24 hours. */
  idempotency: 2,
  /** No picture is taken from the cache that is older than 30 days. */
  cache: 31,
  /** Large options: a capture that has not begun by then never will. */
  options: 2,
} as const

const rule = (folder: string, days: number): LifecycleRule => ({
  ID: `${OWN}${folder}`,
  Status: 'Enabled',
  Filter: { Prefix: `${folder}/` },
  Expiration: { Days: days } as NonNullable<LifecycleRule['Expiration']>,
})

/**
 * All rules of the bucket, with ours as they should be. Files and batches go with the records at the latest; the operator removes files when
 * their plan says so, and records by itself, for it knows the day that they belong to.
 */
export function withOwnRules(found: readonly LifecycleRule[], recordDays: number): LifecycleConfig {
  const folders = { ...DAYS, users: recordDays + 1, batches: recordDays }
  const own = Object.entries(folders).map(([folder, days]) => rule(folder, days))
  return { Rule: [...found.filter(({ ID = '' }) => !ID.startsWith(OWN)), ...own] }
}

/** Sets our rules and leaves others. MinIO removes uploads that were left incomplete by itself, after a day. @throws RetryableError */
export async function setLifecycle(client: Client, bucket: string, recordDays: number): Promise<void> {
  await retryable('set the lifecycle of the bucket', async () => {
    await client.setBucketLifecycle(bucket, withOwnRules(await findRules(client, bucket), recordDays))
  })
}

async function findRules(client: Client, bucket: string): Promise<LifecycleRule[]> {
  try {
    // One rule alone is parsed as an object.
    const { Rule: rules } = ((await client.getBucketLifecycle(bucket)) ?? { Rule: [] }) as { Rule: LifecycleRule | LifecycleRule[] }
    return [rules].flat()
  } catch (error) {
    if ((error as { code?: string }).code === 'NoSuchLifecycleConfiguration') return []
    throw error
  }
}
