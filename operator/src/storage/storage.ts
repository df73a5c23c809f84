import { Client } from 'minio'
import { RetryableError } from '../controller/errors.ts'
import { presign, type StorageAccess } from './presign.ts'

const TIMEOUT_MILLISECONDS = 10_000

/** What a runner needs to store one file. */
export interface Upload {
  url: string
  headers: Record<string, string>
}

/** What the operator does in the bucket. Every method may be repeated. */
export interface Storage {
  /** Makes the bucket when it is not there. */
  ensureBucket(): Promise<void>
  /** An address for one PUT of one new object. */
  presignPut(upload: { key: string; contentType: string; expiresAt: Date; now: Date }): Upload
  /** Removes every object whose key begins with `prefix`. */
  removePrefix(prefix: string): Promise<void>
}

/** The bucket at an S3-compatible store. Errors of the store are RetryableErrors. */
export function openStorage(access: StorageAccess): Storage {
  const { endpoint, region, bucket, accessKey, secretKey } = access
  const url = new URL(endpoint)
  const useSSL = url.protocol === 'https:'
  const port = Number(url.port) || (useSSL ? 443 : 80)
  const client = new Client({ endPoint: url.hostname, port, useSSL, region, accessKey, secretKey, pathStyle: true })
  return {
    ensureBucket: () => retryable('ensure the bucket', () => ensureBucket(client, bucket, region)),
    removePrefix: (prefix) => retryable('remove files', () => removePrefix(client, bucket, prefix)),
    presignPut({ key, contentType, expiresAt, now }) {
      const headers = { 'content-type': contentType, 'if-none-match': '*' }
      const expiresSeconds = (expiresAt.getTime() - now.getTime()) / 1_000
      return { url: presign(access, { method: 'PUT', key, headers, expiresSeconds, now }), headers }
    },
  }
}

async function ensureBucket(client: Client, bucket: string, region: string): Promise<void> {
  if (await client.bucketExists(bucket)) return
  try {
    await client.makeBucket(bucket, region)
  } catch (error) {
    // Another replica was faster.
    if ((error as { code?: string }).code !== 'BucketAlreadyOwnedByYou') throw error
  }
}

async function removePrefix(client: Client, bucket: string, prefix: string): Promise<void> {
  const names: string[] = []
  for await (const { name } of client.listObjectsV2(bucket, prefix, true)) if (name !== undefined) names.push(name)
  if (names.length === 0) return
  const refused = (await client.removeObjects(bucket, names)).find((answer) => answer?.Error)
  if (refused) throw new Error(`${names.length} files: ${refused.Error?.Code}`)
}

/** The client has no time-out of its own: a store that hangs would hold a worker for ever. */
async function retryable<T>(what: string, call: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${TIMEOUT_MILLISECONDS} ms`)), TIMEOUT_MILLISECONDS)
  try {
    return await Promise.race([call(), late.promise])
  } catch (cause) {
    throw new RetryableError(what, { cause })
  } finally {
    clearTimeout(timer)
  }
}
