import { lazyBucketClient } from '@tintype/crds/storage/s3/bucket-client'
import type { StoreDriver } from '../driver.ts'
import { removeUser } from './admin.ts'
import { setIdentities } from './identities.ts'
import { setLifecycle } from './lifecycle.ts'

const TIMEOUT_MILLISECONDS = 10_000

/** MinIO: users have policies, and the bucket has lifecycle rules. */
export const driver: StoreDriver = {
  setIdentities,
  removeUser: (accessKey, { root }) => removeUser(root, accessKey),
  setExpiry: async (days, { root, bucket }) => setLifecycle(await lazyBucketClient(root, TIMEOUT_MILLISECONDS)(), bucket, days),
}
