import type { StorageAccess } from '@tintype/crds/crypto/presign'
import type { ObjectStorage } from '@tintype/crds/storage/port'
import { openStorage as openObjectStorage, type StorageOptions } from '@tintype/crds/storage/s3/open-storage'
import { RetryableError } from '../controller-runtime/controller.ts'

/** The operator's access to the bucket. Every method is idempotent; errors of the store are RetryableErrors. */
export interface Storage extends Omit<ObjectStorage, 'open' | 'stat' | 'check' | 'read' | 'write'> {
  write(key: string, text: string): Promise<void>
}

/** Opens the bucket of an S3-compatible store. */
export function openStorage(access: StorageAccess, options: Omit<StorageOptions, 'access' | 'toError'> = {}): Storage {
  const storage = openObjectStorage({ ...options, access, toError: (what, cause) => new RetryableError(what, { cause }) })
  return { ...storage, write: async (key, text) => void (await storage.write(key, text)) }
}
