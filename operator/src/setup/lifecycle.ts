import type { Plans } from '@tintype/crds/usage/plans'
import type { Client, LifecycleConfig, LifecycleRule } from 'minio'
import { RetryableError } from '../controller/errors.ts'

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

/** How long the release keeps what, in days. */
export interface KeptDays {
  /** Files, of the plan that keeps them longest. */
  fileDays: number
  recordDays: number
}

/** Days that files are kept by the plan that keeps them longest. */
export const longestRetention = (plans: Plans): number => Math.max(...Object.values(plans).map(({ retentionDays }) => retentionDays))

/**
 * All rules of the bucket, with ours as they should be. The operator removes files when their plan says so, and records by itself, for it knows
 * the day that they belong to; the store's own rule for files is for what the operator cannot know of, and waits for the longest plan.
 */
export function withOwnRules(found: readonly LifecycleRule[], { fileDays, recordDays }: KeptDays): LifecycleConfig {
  const folders = { ...DAYS, users: fileDays + 1, batches: recordDays }
  const own = Object.entries(folders).map(([folder, days]) => rule(folder, days))
  return { Rule: [...found.filter(({ ID = '' }) => !ID.startsWith(OWN)), ...own] }
}

/** Sets our rules and leaves others. MinIO removes uploads that were left incomplete by itself, after a day. @throws RetryableError */
export async function setLifecycle(client: Client, bucket: string, days: KeptDays): Promise<void> {
  try {
    await client.setBucketLifecycle(bucket, withOwnRules(await findRules(client, bucket), days))
  } catch (cause) {
    throw new RetryableError('set the lifecycle of the bucket', { cause })
  }
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
