import type { StorageAccess } from '@tintype/crds/presign'
import { openStorage } from '@tintype/crds/storage/open-storage'
import type { ObjectStorage } from '@tintype/crds/storage/port'
import { unavailable } from '../errors.ts'

/** The bucket, by the S3 protocol. Errors of the store are ApiErrors: SERVICE_UNAVAILABLE. */
export const openBucket = (access: StorageAccess): ObjectStorage =>
  openStorage({ access, toError: (_what, cause) => unavailable('the store is not available for the moment', cause) })
