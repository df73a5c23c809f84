import { presign, type StorageAccess } from '@tintype/crds/presign'
import type { Client } from 'minio'
import { request } from 'undici'
import { lazyBucketClient } from './bucket-client.ts'
import { type Objects, openObjects, retryable } from './objects.ts'

const TIMEOUT_MILLISECONDS = 10_000
/** How long an address holds that is used at once: as far as stores let clocks differ, for ours may be behind. */
const OWN_SECONDS = 900

/** What a runner needs to store one file. */
export interface Upload {
  url: string
  headers: Record<string, string>
}

/** What the operator does in the bucket. Every method may be repeated. */
export interface Storage extends Objects {
  /** Makes the bucket when it is not there. */
  ensureBucket(): Promise<void>
  /** An address for one PUT of one new object. */
  presignPut(upload: { key: string; contentType: string; expiresAt: Date; now: Date }): Upload
  /** The text of one object; undefined when there is none. @throws RetryableError also when it has more than `maxBytes` */
  readText(key: string, maxBytes: number): Promise<string | undefined>
  /** Whether there is an object of that key. */
  exists(key: string): Promise<boolean>
  /** Copies one object inside the bucket; gives the tag of the copy, undefined when there is no object with the tag `etag`. */
  copy(copied: { from: string; etag: string; to: string }): Promise<string | undefined>
  /** Removes every object whose key begins with `prefix`. */
  removePrefix(prefix: string): Promise<void>
}

/** The bucket at an S3-compatible store. Errors of the store are RetryableErrors. */
export function openStorage(access: StorageAccess, now: () => Date = () => new Date()): Storage {
  const client = lazyBucketClient(access)
  const isThere = (key: string) => findObject(access, key, now())
  return {
    ...openObjects(access.bucket, client),
    ensureBucket: () => retryable('ensure the bucket', () => ensureBucket(access, { client, isThere })),
    readText: (key, maxBytes) => retryable('read an object', () => readText(access, key, { maxBytes, now: now() })),
    exists: (key) => retryable('look for an object', () => isThere(key)),
    copy: (copied) => retryable('copy an object', async () => copyObject(await client(), access.bucket, copied)),
    removePrefix: (prefix) => retryable('remove files', async () => removePrefix(await client(), access.bucket, prefix)),
    presignPut({ key, contentType, expiresAt, now }) {
      const headers = { 'content-type': contentType, 'if-none-match': '*' }
      const expiresSeconds = (expiresAt.getTime() - now.getTime()) / 1_000
      return { url: presign(access, { method: 'PUT', key, headers, expiresSeconds, now }), headers }
    },
  }
}

interface BucketWays {
  client: () => Promise<Client>
  isThere: (key: string) => Promise<boolean>
}

async function ensureBucket(access: StorageAccess, { client, isThere }: BucketWays): Promise<void> {
  if (await isThere('')) return
  try {
    await (await client()).makeBucket(access.bucket, access.region)
  } catch (error) {
    // Another replica was faster.
    if ((error as { code?: string }).code !== 'BucketAlreadyOwnedByYou') throw error
  }
}

/** Asked without the client, which need not be loaded when all is well. An empty key is the bucket itself. */
async function findObject(access: StorageAccess, key: string, now: Date): Promise<boolean> {
  const url = presign(access, { method: 'HEAD', key, expiresSeconds: OWN_SECONDS, now })
  // undici gives up the connection of a HEAD unless told otherwise, for servers that send a body.
  const { statusCode, body } = await request(url, { method: 'HEAD', headersTimeout: TIMEOUT_MILLISECONDS, reset: false })
  await body.dump()
  if (statusCode === 200 || statusCode === 404) return statusCode === 200
  throw new Error(`the store answered ${statusCode}`)
}

/** Without the client, as above. */
async function readText(
  access: StorageAccess,
  key: string,
  { maxBytes, now }: { maxBytes: number; now: Date },
): Promise<string | undefined> {
  const url = presign(access, { method: 'GET', key, expiresSeconds: OWN_SECONDS, now })
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS)
  const { statusCode, body } = await request(url, { signal })
  if (statusCode !== 200) {
    await body.dump()
    if (statusCode === 404) return undefined
    throw new Error(`the store answered ${statusCode}`)
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`${key} is longer than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const NOT_THERE = new Set(['NoSuchKey', 'PreconditionFailed'])

async function copyObject(client: Client, bucket: string, { from, etag, to }: { from: string; etag: string; to: string }) {
  const { CopyConditions } = await import('minio')
  const conditions = new CopyConditions()
  conditions.setMatchETag(etag)
  try {
    const copied = await client.copyObject(bucket, to, `/${bucket}/${from}`, conditions)
    return ('etag' in copied ? copied.etag : undefined)?.replaceAll('"', '')
  } catch (error) {
    if (NOT_THERE.has((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}

async function removePrefix(client: Client, bucket: string, prefix: string): Promise<void> {
  const names: string[] = []
  for await (const { name } of client.listObjectsV2(bucket, prefix, true)) if (name !== undefined) names.push(name)
  if (names.length === 0) return
  const refused = (await client.removeObjects(bucket, names)).find((answer) => answer?.Error)
  if (refused) throw new Error(`${names.length} files: ${refused.Error?.Code}`)
}
