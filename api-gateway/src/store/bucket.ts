import type { StorageAccess } from '@tintype/crds/crypto/presign'
import type { ObjectStorage } from '@tintype/crds/storage/port'
import { openStorage } from '@tintype/crds/storage/s3/open-storage'
import { unavailable } from '../common/errors.ts'

/** The bucket, over the S3 protocol. Storage errors become ApiError SERVICE_UNAVAILABLE. */
export const openBucket = (access: StorageAccess): ObjectStorage =>
  openStorage({
    access,
    toError: (_what, cause) => unavailable('object storage is temporarily unavailable: retry in a few seconds', cause),
  })
