import type { StoredFile } from '../../../crds/storage/port.ts'
import { MemoryBucket } from '../../support/fakes/memory-bucket.ts'

/** Objects of a bucket, as gateways see it. Tests replace single methods to make it fail. */
export function anObjectStore() {
  const bucket = new MemoryBucket()
  const stat = async (key: string): Promise<StoredFile | undefined> => {
    const etag = bucket.etagOf(key)
    return etag === undefined ? undefined : { sizeBytes: Buffer.byteLength(bucket.objects.get(key)!), etag, lastModified: new Date(0) }
  }
  return { ...bucket.store, stat, objects: bucket.objects }
}
