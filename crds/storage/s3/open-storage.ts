import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'minio'
import { type Dispatcher, request } from 'undici'
import { presign, type StorageAccess } from '../../src/crypto/presign.ts'
import { FencedError, type MayWrite } from '../../src/runtime/fence.ts'
import { readAtMost, readBeginning, TooLongError } from '../../src/runtime/limited-read.ts'
import { repeat } from '../../src/runtime/retry.ts'
import {
  AccessRefusedError,
  type ByteSpan,
  type ListKeys,
  type ObjectStorage,
  ObjectTooLargeError,
  PAGE,
  type StorageErrors,
  type StoredText,
} from '../port.ts'
import { lazyBucketClient } from './bucket-client.ts'
import { explain, PATH_HINT, parseErrorBody, REFUSALS } from './explain.ts'
import { etagOf } from './presigned.ts'

/** Maximum time of a call, or until the response headers of a download. */
const TIMEOUT_MILLISECONDS = 10_000
/** Time without a byte after which a download is aborted. Pauses of a slow reader count too. */
const IDLE_MILLISECONDS = 30_000
/** Delays before the retries of a read after a 503 response. */
const BUSY_DELAYS_MILLISECONDS = [100, 400]
/** Maximum number of bytes of an error response. */
const MAX_REASON_BYTES = 2_000
/** Lifetime of a URL for immediate use: the clock difference that stores accept, because the local clock may be slow. */
const OWN_SECONDS = 900

export interface StorageOptions {
  access: StorageAccess
  /** Creates the program's own errors. */
  toError: StorageErrors
  /** Separate credentials that sign uploads, if any. */
  uploads?: Pick<StorageAccess, 'accessKey' | 'secretKey'> | undefined
  timeoutMilliseconds?: number
  now?: () => Date
  /** Once it returns false, each request that writes is refused with a FencedError. Reads and presigned URLs are not. */
  mayWrite?: MayWrite
}

interface Connection {
  access: StorageAccess
  client: () => Promise<Client>
  timeoutMilliseconds: number
  now: () => Date
}

/** Opens a bucket in an S3-compatible store. Reads do not need the minio client, so they do not load it. */
export function openStorage({
  access,
  toError,
  uploads,
  timeoutMilliseconds = TIMEOUT_MILLISECONDS,
  now = () => new Date(),
  mayWrite,
}: StorageOptions): ObjectStorage {
  const connection = { access, client: lazyBucketClient(access, timeoutMilliseconds, mayWrite), timeoutMilliseconds, now }
  const { bucket } = access
  const call = <T>(what: string, act: () => Promise<T>): Promise<T> => inTime(act, timeoutMilliseconds).catch(fail(what))
  const fail = (what: string) => (cause: unknown) => {
    throw cause instanceof FencedError ? cause : toError(what, cause)
  }
  const withClient = <T>(what: string, act: (client: Client) => Promise<T>, right?: string) =>
    call(what, async () => act(await connection.client()).catch((error: unknown) => Promise.reject(explained(error, access, right))))
  const listPage = (prefix: string, { after = '', limit = PAGE, folders = false }: ListKeys = {}) =>
    withClient(
      'list objects',
      async (client) => {
        const { objects } = await client.listObjectsV2Query(bucket, prefix, '', folders ? '/' : '', limit, after)
        return objects
      },
      's3:ListBucket on the bucket',
    )
  const read = (key: string, maxBytes: number) => call('read an object', () => readObject(connection, key, maxBytes))
  const write: ObjectStorage['write'] = (key, text, condition = {}) =>
    withClient('write an object', (client) => writeObject(client, bucket, { key, text, condition }), rightOn('s3:PutObject', key))
  return {
    ensureBucket: () => call('ensure the bucket', () => ensureBucket(connection)),
    check: () => call('look for the bucket', () => checkBucket(connection)),
    stat: (key) => call('look at an object', async () => toFile(await head(connection, key))),
    exists: (key) => call('look for an object', async () => (await head(connection, key)) !== undefined),
    read,
    readText: async (key, maxBytes) => (await read(key, maxBytes))?.text,
    open: (key, span) => openObject(connection, key, span).catch(fail('open a file')),
    write,
    list: async (prefix, options) => {
      const entries = await listPage(prefix, options)
      return entries.map((entry) => ('prefix' in entry ? entry.prefix : entry.name) ?? '')
    },
    listObjects: async (prefix, options) => {
      const entries = await listPage(prefix, options)
      return entries.flatMap(({ name, lastModified }) => (name && lastModified ? [{ key: name, lastModified }] : []))
    },
    remove: (keys) => withClient('remove objects', (client) => removeObjects(client, access, keys)),
    removePrefix: (prefix) => withClient('remove files', (client) => removePrefix(client, access, prefix)),
    copy: (copied) =>
      withClient(
        'copy an object',
        (client) => copyObject(client, bucket, copied),
        `${rightOn('s3:GetObject', copied.from)}, or ${rightOn('s3:PutObject', copied.to)}`,
      ),
    presignGet({ key, etag, expiresAt, now: signedAt }) {
      const headers: Record<string, string> = etag === undefined ? {} : { 'if-match': `"${etag}"` }
      const expiresSeconds = (expiresAt.getTime() - signedAt.getTime()) / 1_000
      return { url: presign(access, { method: 'GET', key, headers, expiresSeconds, now: signedAt }), headers }
    },
    presignPut({ key, contentType, expiresAt, now: signedAt }) {
      // Signs the payload form, so that the store accepts no other form.
      const headers = { 'content-type': contentType, 'if-none-match': '*', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
      const expiresSeconds = (expiresAt.getTime() - signedAt.getTime()) / 1_000
      const url = presign({ ...access, ...uploads }, { method: 'PUT', key, headers, expiresSeconds, now: signedAt })
      return { url, headers }
    },
  }
}

/** Limits the time of a call, so that a store that hangs does not block the caller. The transport's own limits end the request. */
async function inTime<T>(act: () => Promise<T>, milliseconds: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no response in ${milliseconds} ms`)), milliseconds)
  try {
    return await Promise.race([act(), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Reads the headers of an object; undefined if it does not exist. An empty key means the bucket. */
async function head({ access, timeoutMilliseconds, now }: Connection, key: string): Promise<Headers | undefined> {
  const url = presign(access, { method: 'HEAD', key, expiresSeconds: OWN_SECONDS, now: now() })
  // By default, undici closes the connection after a HEAD, because some servers send a body.
  const { statusCode, headers, body } = await requestWithRetry(url, { method: 'HEAD', headersTimeout: timeoutMilliseconds, reset: false })
  await body.dump()
  if (statusCode === 200) return headers
  if (statusCode === 404) return undefined
  throw refusal(statusCode, access, key)
}

/** `s3:PutObject on records/*`: rights are granted by folder. */
const rightOn = (action: string, key: string): string => `${action} on ${key.split('/')[0]}/*`

function refusal(statusCode: number, access: StorageAccess, key: string): Error {
  if (statusCode !== 403) return new Error(`the store responded with ${statusCode}`)
  const right = key === '' ? undefined : rightOn('s3:GetObject', key)
  return new AccessRefusedError(`the store refused the request (403): ${explain({ code: 'AccessDenied', access, right })}`)
}

/** The error with what to do, if that is known. */
function explained(error: unknown, access: StorageAccess, right?: string, region?: string): unknown {
  const code = codeOf(error)
  const text = explain({ code, access, right, region })
  if (text === undefined) return error
  const options = { cause: error }
  // The code stays, because callers read it.
  return Object.assign(REFUSALS.has(code) ? new AccessRefusedError(text, options) : new Error(text, options), { code })
}

type Headers = Dispatcher.ResponseData['headers']

function toFile(headers: Headers | undefined) {
  if (headers === undefined) return undefined
  const { 'content-length': length, 'last-modified': modified } = headers
  return { sizeBytes: Number(length ?? 0), etag: etagOf(headers), lastModified: new Date(String(modified)) }
}

async function checkBucket(connection: Connection): Promise<void> {
  const found = await head(connection, '').catch((error: unknown) => diagnose(connection, error))
  if (!found) throw explained({ code: 'NoSuchBucket' }, connection.access)
}

async function ensureBucket(connection: Connection): Promise<void> {
  if (await head(connection, '').catch((error: unknown) => diagnose(connection, error))) return
  const { access } = connection
  try {
    await (await connection.client()).makeBucket(access.bucket, access.region)
  } catch (error) {
    // Another replica created it first.
    if (codeOf(error) === 'BucketAlreadyOwnedByYou') return
    // Keys of programs rarely may create buckets.
    throw explained(REFUSALS.has(codeOf(error)) ? { code: 'NoSuchBucket', cause: error } : error, access)
  }
}

/** Asks the store for the reason of a failed HEAD, whose response has none. @throws the error with what to do */
async function diagnose({ access, timeoutMilliseconds, now }: Connection, error: unknown): Promise<never> {
  if (codeOf(error) !== '') throw explained(error, access)
  const query = { 'list-type': '2', 'max-keys': '1' }
  const url = presign(access, { method: 'GET', key: '', query, expiresSeconds: OWN_SECONDS, now: now() })
  const { body } = await request(url, { signal: AbortSignal.timeout(timeoutMilliseconds) })
  const { code, region } = parseErrorBody((await readBeginning(body, MAX_REASON_BYTES)).toString())
  const reason = explained({ code }, access, undefined, region)
  if (reason instanceof Error) throw reason
  // A store that does not know the bucket's host name answers for itself: MinIO with 400, versitygw with 405.
  throw access.pathStyle === false && error instanceof Error ? new Error(`${error.message}${PATH_HINT}`, { cause: error }) : error
}

/** Retries after a 503, which a store returns when it is starting or overloaded. */
async function requestWithRetry(url: string, options: NonNullable<Parameters<typeof request>[1]>) {
  let busy: Dispatcher.ResponseData<unknown> | undefined
  return repeat(() => request(url, options), {
    delayOf: (response, attempt) => {
      if (response.statusCode !== 503) return undefined
      busy = response
      return BUSY_DELAYS_MILLISECONDS[attempt - 1]
    },
    wait: async (milliseconds) => {
      await busy?.body.dump()
      await sleep(milliseconds)
    },
  })
}

/** Returns undefined if the object does not exist. */
async function get(connection: Connection, key: string, options: Omit<Parameters<typeof request>[1] & object, 'dispatcher'>) {
  const url = presign(connection.access, { method: 'GET', key, expiresSeconds: OWN_SECONDS, now: connection.now() })
  const response = await requestWithRetry(url, { headersTimeout: connection.timeoutMilliseconds, ...options })
  const { statusCode, body } = response
  if (statusCode === 200 || statusCode === 206) return response
  await body.dump()
  if (statusCode === 404) return undefined
  throw refusal(statusCode, connection.access, key)
}

async function readObject(connection: Connection, key: string, maxBytes: number): Promise<StoredText | undefined> {
  const response = await get(connection, key, { signal: AbortSignal.timeout(connection.timeoutMilliseconds) })
  if (response === undefined) return undefined
  const content = await readAtMost(response.body, maxBytes).catch((error: unknown) => {
    throw error instanceof TooLongError ? new ObjectTooLargeError(key, maxBytes) : error
  })
  return { text: content.toString(), etag: etagOf(response.headers) }
}

async function openObject(connection: Connection, key: string, span: ByteSpan | undefined): Promise<Readable | undefined> {
  const headers = span ? { range: `bytes=${span.start}-${span.end}` } : {}
  return (await get(connection, key, { headers, bodyTimeout: IDLE_MILLISECONDS }))?.body
}

const codeOf = (error: unknown): string => (error as { code?: string }).code ?? ''

/** Error codes of unmet conditions: no such object, or a concurrent writer, which gives 412 if it has finished and 409 if not. */
const CONDITION_CODES = new Set(['NoSuchKey', 'NotFound', 'PreconditionFailed', 'ConditionalRequestConflict'])

interface Writing {
  key: string
  text: string
  condition: { ifAbsent?: boolean; ifMatch?: string }
}

async function writeObject(client: Client, bucket: string, { key, text, condition }: Writing): Promise<string | undefined> {
  const { ifAbsent = false, ifMatch } = condition
  const headers = {
    'content-type': 'application/json',
    ...(ifAbsent ? { 'if-none-match': '*' } : {}),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
  }
  try {
    return etagOf(await client.putObject(bucket, key, text, Buffer.byteLength(text), headers))
  } catch (error) {
    if ((ifAbsent || ifMatch !== undefined) && CONDITION_CODES.has(codeOf(error))) return undefined
    throw error
  }
}

async function copyObject(client: Client, bucket: string, { from, etag, to }: { from: string; etag: string; to: string }) {
  const { CopyConditions } = await import('minio')
  const conditions = new CopyConditions()
  conditions.setMatchETag(etag)
  try {
    const copied = await client.copyObject(bucket, to, `/${bucket}/${from}`, conditions)
    return 'etag' in copied ? etagOf(copied) : undefined
  } catch (error) {
    if (CONDITION_CODES.has(codeOf(error))) return undefined
    throw error
  }
}

async function removeObjects(client: Client, access: StorageAccess, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  // The client's types wrap each refusal in `Error`, but its results are the refusals themselves.
  const results = (await client.removeObjects(access.bucket, [...keys])) as ({ Code?: string; Key?: string } | null | undefined)[]
  const refused = results.find((result) => result?.Code)
  if (!refused) return
  const right = rightOn('s3:DeleteObject', refused.Key ?? keys[0]!)
  const reason = explain({ code: refused.Code ?? '', access, right })
  throw new Error(`${keys.length} objects: ${reason ?? refused.Code}`)
}

async function removePrefix(client: Client, access: StorageAccess, prefix: string): Promise<void> {
  const keys: string[] = []
  for await (const { name } of client.listObjectsV2(access.bucket, prefix, true)) if (name !== undefined) keys.push(name)
  await removeObjects(client, access, keys)
}
