import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { presign } from '@tintype/crds/crypto/presign'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { Client } from 'minio'
import { startMinio } from '../../cluster/programs/minio.ts'

const BUCKET = 'tintype'
const REGION = 'us-east-1'
const SECONDS = 3_600

/** A separate store for the benchmark. */
export interface Store {
  /** A presigned PUT, as the operator creates it. */
  uploadOf: (key: string) => CaptureOrder['upload']
  read: (key: string) => Promise<Buffer>
  close: () => Promise<void>
}

/** Starts MinIO on loopback. */
export async function openStore(): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), 'tintype-bench-'))
  const { endpoint, port, accessKey, secretKey, stop } = await startMinio({ directory })
  const client = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region: REGION, pathStyle: true })
  await client.makeBucket(BUCKET)
  const access = { endpoint, region: REGION, bucket: BUCKET, accessKey, secretKey }
  return {
    uploadOf: (key) => {
      const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
      const url = presign(access, { method: 'PUT', key, headers, expiresSeconds: SECONDS, now: new Date() })
      return { url, headers, maxBytes: 200 * 2 ** 20 }
    },
    read: async (key) => buffer(await client.getObject(BUCKET, key)),
    close: async () => {
      await stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
