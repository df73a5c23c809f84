import type { StorageAccess } from '@tintype/crds/presign'
import type { Client } from 'minio'

/**
 * The minio client, loaded when it is first asked for: with what it imports it is a tenth of the operator's memory, and an operator that only
 * has pages captured never needs it.
 */
export function lazyBucketClient({ endpoint, region, accessKey, secretKey }: Omit<StorageAccess, 'bucket'>): () => Promise<Client> {
  let client: Promise<Client> | undefined
  const load = async () => {
    const minio = await import('minio')
    const url = new URL(endpoint)
    const useSSL = url.protocol === 'https:'
    const port = Number(url.port) || (useSSL ? 443 : 80)
    return new minio.Client({ endPoint: url.hostname, port, useSSL, region, accessKey, secretKey, pathStyle: true })
  }
  return () => {
    client ??= load()
    return client
  }
}
