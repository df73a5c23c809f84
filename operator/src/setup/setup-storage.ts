import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { RetryableError } from '../controller/errors.ts'
import { lazyBucketClient } from '../storage/bucket-client.ts'
import { openStorage } from '../storage/storage.ts'
import { setLifecycle } from './lifecycle.ts'
import { attachPolicy, type MinioRoot, putPolicy, putUser } from './minio-admin.ts'
import { gatewayPolicy, operatorPolicy } from './storage-policies.ts'

// Run by a Job of the chart after each installation and upgrade, with the root user's password, which no other program has.

const Environment = z.object({
  TINTYPE_STORAGE_ENDPOINT: z.url({ protocol: /^https?$/ }),
  TINTYPE_STORAGE_REGION: z.string().min(1),
  TINTYPE_STORAGE_BUCKET: z.string().min(3).max(63),
  /** Days after which records go, and with them whatever is left of their files. */
  TINTYPE_RETENTION_RECORD_DAYS: z.coerce.number().int().positive().default(400),
  TINTYPE_STORAGE_ROOT_USER: z.string().min(3),
  TINTYPE_STORAGE_ROOT_PASSWORD: z.string().min(8),
  TINTYPE_OPERATOR_ACCESS_KEY: z.string().min(3),
  TINTYPE_OPERATOR_SECRET_KEY: z.string().min(8),
  TINTYPE_GATEWAY_ACCESS_KEY: z.string().min(3),
  TINTYPE_GATEWAY_SECRET_KEY: z.string().min(8),
})

const RETRY_MILLISECONDS = 1_000
/** A volume may have to be made first; after that the Job begins again. */
const PATIENCE_MILLISECONDS = 120_000

/** Makes the bucket, says how long the store keeps what, then makes a user for the operator and one for the gateway; waits for a store that is not up yet. */
export async function setupStorage(env: NodeJS.ProcessEnv): Promise<void> {
  const read = Environment.parse(env)
  const root: MinioRoot = {
    endpoint: read.TINTYPE_STORAGE_ENDPOINT,
    region: read.TINTYPE_STORAGE_REGION,
    accessKey: read.TINTYPE_STORAGE_ROOT_USER,
    secretKey: read.TINTYPE_STORAGE_ROOT_PASSWORD,
  }
  const bucket = read.TINTYPE_STORAGE_BUCKET
  const users = [
    {
      policyName: 'tintype-operator',
      policy: operatorPolicy(bucket),
      accessKey: read.TINTYPE_OPERATOR_ACCESS_KEY,
      secretKey: read.TINTYPE_OPERATOR_SECRET_KEY,
    },
    {
      policyName: 'tintype-gateway',
      policy: gatewayPolicy(bucket),
      accessKey: read.TINTYPE_GATEWAY_ACCESS_KEY,
      secretKey: read.TINTYPE_GATEWAY_SECRET_KEY,
    },
  ]
  const deadline = performance.now() + PATIENCE_MILLISECONDS
  await retryUntil(deadline, () => openStorage({ ...root, bucket }).ensureBucket())
  const client = await lazyBucketClient(root)()
  await retryUntil(deadline, () => setLifecycle(client, bucket, read.TINTYPE_RETENTION_RECORD_DAYS))
  for (const { policyName, policy, ...user } of users) {
    await retryUntil(deadline, () => putPolicy(root, policyName, policy))
    await retryUntil(deadline, () => putUser(root, user))
    await retryUntil(deadline, () => attachPolicy(root, policyName, user.accessKey))
  }
}

async function retryUntil(deadline: number, step: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof RetryableError) || performance.now() > deadline) throw error
      await sleep(RETRY_MILLISECONDS)
    }
  }
}
