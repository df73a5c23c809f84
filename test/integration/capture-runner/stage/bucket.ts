import { buffer } from 'node:stream/consumers'
import { Client } from 'minio'
import type { Test } from 'tap'
import { presign } from '../../../../crds/src/crypto/presign.ts'
import type { CaptureOrder } from '../../../../crds/src/dispatch/dispatch.ts'
import { startMinio } from '../../../cluster/programs/minio.ts'
import { createDirectory } from '../../../support/directory.ts'

const BUCKET = 'tintype'

/**
 * Starts a real storage with one bucket, which ends with the test file, and makes the presigned URLs that the operator would create. `environment` has
 * additional variables of MinIO.
 */
export async function openBucket(t: Test, environment: Readonly<Record<string, string>> = {}) {
  const directory = await createDirectory(t, 'store')
  const store = await startMinio({ directory, environment })
  t.teardown(store.stop)
  const { endpoint, port, accessKey, secretKey } = store
  const region = 'us-east-1'
  const client = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region, pathStyle: true })
  await client.makeBucket(BUCKET)
  const access = { endpoint, region, bucket: BUCKET, accessKey, secretKey }
  return {
    store,
    /** A presigned GET of one object, which must have the ETag. */
    baselineOf: (key: string, etag: string): NonNullable<CaptureOrder['baseline']> => {
      const headers = { 'if-match': `"${etag}"` }
      return { url: presign(access, { method: 'GET', key, headers, expiresSeconds: 600, now: new Date() }), headers, maxBytes: 100_000_000 }
    },
    /** A presigned PUT of one object. */
    uploadOf: (key: string, { maxBytes = 100_000_000, expiresSeconds = 600 } = {}): CaptureOrder['upload'] => {
      const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
      return { url: presign(access, { method: 'PUT', key, headers, expiresSeconds, now: new Date() }), headers, maxBytes }
    },
    /** The object's bytes and ETag; undefined if it does not exist. */
    read: async (key: string) => {
      const stat = await client.statObject(BUCKET, key).catch(() => undefined)
      if (!stat) return undefined
      const bytes = await buffer(await client.getObject(BUCKET, key))
      return { bytes, etag: stat.etag, contentType: String(stat.metaData['content-type']) }
    },
    remove: (key: string) => client.removeObject(BUCKET, key),
  }
}
