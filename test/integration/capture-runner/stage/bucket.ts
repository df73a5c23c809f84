import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Client } from 'minio'
import type { Test } from 'tap'
import { presign } from '../../../../crds/src/crypto/presign.ts'
import type { CaptureOrder } from '../../../../crds/src/dispatch/dispatch.ts'
import { startMinio } from '../../../cluster/programs/minio.ts'
import type { StoreServer } from '../../../cluster/programs/store-server.ts'

/** A real storage with one bucket, and the presigned URLs that the operator would create. */
export interface Bucket {
  store: StoreServer
  /** A presigned PUT of one object. */
  uploadOf: (key: string, given?: { maxBytes?: number; expiresSeconds?: number }) => CaptureOrder['upload']
  /** A presigned GET of one object, which must have the ETag. */
  baselineOf: (key: string, etag: string) => NonNullable<CaptureOrder['baseline']>
  /** The object's bytes and ETag; undefined if it does not exist. */
  read: (key: string) => Promise<{ bytes: Buffer; etag: string; contentType: string } | undefined>
  remove: (key: string) => Promise<void>
}

const BUCKET = 'tintype'

/** Starts a storage that ends with the test file. `environment` has additional variables of MinIO. */
export async function openBucket(t: Test, environment: Readonly<Record<string, string>> = {}): Promise<Bucket> {
  const directory = await mkdtemp(join(tmpdir(), 'tintype-store-'))
  const store = await startMinio({ directory, environment })
  t.teardown(async () => {
    await store.stop()
    await rm(directory, { recursive: true, force: true })
  })
  const { endpoint, port, accessKey, secretKey } = store
  const region = 'us-east-1'
  const client = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region, pathStyle: true })
  await client.makeBucket(BUCKET)
  const access = { endpoint, region, bucket: BUCKET, accessKey, secretKey }
  return {
    store,
    baselineOf: (key, etag) => {
      const headers = { 'if-match': `"${etag}"` }
      return { url: presign(access, { method: 'GET', key, headers, expiresSeconds: 600, now: new Date() }), headers, maxBytes: 100_000_000 }
    },
    uploadOf: (key, { maxBytes = 100_000_000, expiresSeconds = 600 } = {}) => {
      const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
      return { url: presign(access, { method: 'PUT', key, headers, expiresSeconds, now: new Date() }), headers, maxBytes }
    },
    read: async (key) => {
      const stat = await client.statObject(BUCKET, key).catch(() => undefined)
      if (!stat) return undefined
      const bytes = await buffer(await client.getObject(BUCKET, key))
      return { bytes, etag: stat.etag, contentType: String(stat.metaData['content-type']) }
    },
    remove: (key) => client.removeObject(BUCKET, key),
  }
}
