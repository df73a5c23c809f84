import { createHash, createHmac } from 'node:crypto'
import { signingKeyOf } from '@tintype/crds/crypto/presign'
import { folders, type Identity } from '@tintype/crds/records/folders'
import { readAtMost, readBeginning } from '@tintype/crds/runtime/limited-read'
import { request } from 'undici'
import { z } from 'zod'
import { RetryableError, TerminalError } from '../controller-runtime/controller.ts'

// A store that the chart can install. Each has a folder beside this file, with what is peculiar to it. All of them speak S3.

/** The chart value `store`: the name of a folder beside this file. */
export const StoreName = z.string().regex(/^[a-z0-9]+$/)

/** Loads `driver.ts` of a store's folder. esbuild bundles each of them. @throws if there is no such folder */
export async function loadDriver(store: string): Promise<StoreDriver> {
  const { driver } = (await import(`./${store}/driver.ts`)) as { driver: StoreDriver }
  return driver
}

/** A store and its root user. */
export interface StoreRoot {
  endpoint: string
  region: string
  accessKey: string
  secretKey: string
}

/** A user of the store. */
export interface StoreUser {
  accessKey: string
  secretKey: string
}

/** The current keys of the programs. */
export type Identities = Readonly<Record<Identity, StoreUser>>

/** The store whose users are set. */
export interface Target {
  root: StoreRoot
  bucket: string
  now: Date
}

/** Days after which objects are deleted, by folder of the bucket. */
export type ExpiryDays = Readonly<Record<string, number>>

/** Every method can be repeated, and throws a RetryableError or a TerminalError. */
export interface StoreDriver {
  /** Creates a user for each program with the rights of its folders, and retires the users that were replaced. */
  setIdentities(identities: Identities, target: Target): Promise<void>
  /** Deletes a user and its rights immediately. A missing user is no error. */
  removeUser(accessKey: string, target: Pick<Target, 'root' | 'bucket'>): Promise<void>
  /** Makes the store delete old objects. Absent: it has no such rules, and `expireFiles` runs beside it. */
  setExpiry?(days: ExpiryDays, target: Pick<Target, 'root' | 'bucket'>): Promise<void>
  /** Deletes old objects from the store's volume once. Absent: the store itself deletes them. */
  expireFiles?(bucketDirectory: string, days: ExpiryDays, now: Date): Promise<ExpiryResult>
}

/** Counts of one round of deletions. */
export interface ExpiryResult {
  files: number
  directories: number
}

/** Retention of the release in days. */
export interface KeptDays {
  /** Retention of files in the plan with the longest one. */
  fileDays: number
  recordDays: number
}

/** Days after which the store deletes the objects of each folder. */
export const expiryDays = ({ fileDays, recordDays }: KeptDays): ExpiryDays =>
  Object.fromEntries(
    folders.flatMap(({ name, deletion: { storeDays } }) => {
      const days = { files: fileDays + 1, records: recordDays, never: undefined }
      const count = typeof storeDays === 'number' ? storeDays : days[storeDays]
      return count === undefined ? [] : [[name, count]]
    }),
  )

// Calls of a store's admin API, which the minio package does not provide.

/** One call. */
export interface AdminCall {
  /** Name of the store, for errors. */
  store: string
  method: 'GET' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path without the operation. Default: `/`. */
  prefix?: string
  operation: string
  parameters?: Record<string, string>
  body?: Buffer | string
  /** Statuses from 300 on that are no error. */
  expected?: readonly number[]
}

const TIMEOUT_MILLISECONDS = 10_000
/** Maximum number of bytes of an error response in the message. */
const MAX_REASON_BYTES = 500
/** Maximum size of a response: a list of a few users. */
const MAX_RESPONSE_BYTES = 1024 * 1024

/** Sends a call. Resolves to a status below 300 or one of `expected`. @throws RetryableError, TerminalError */
export async function callAdmin(root: StoreRoot, call: AdminCall): Promise<{ status: number; body: Buffer }> {
  const { store, method, prefix = '/', operation, parameters = {}, expected = [] } = call
  const url = new URL(prefix + operation, root.endpoint)
  for (const name of Object.keys(parameters).sort()) url.searchParams.set(name, parameters[name] ?? '')
  const body = Buffer.from(call.body ?? '')
  const headers = signHeaders(root, { method, url, body, now: new Date() })
  const hasBody = method === 'PUT' || method === 'PATCH'
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS)
  try {
    const response = await request(url, { method, headers, ...(hasBody ? { body } : {}), signal })
    const status = response.statusCode
    if (status < 300) return { status, body: await readAtMost(response.body, MAX_RESPONSE_BYTES) }
    const reason = await readBeginning(response.body, MAX_REASON_BYTES)
    if (expected.includes(status)) return { status, body: reason }
    const message = `${store} responded with ${status} to ${operation}: ${reason.toString()}`
    throw status >= 500 ? new RetryableError(message) : new TerminalError('StorageRefused', message)
  } catch (cause) {
    if (cause instanceof RetryableError || cause instanceof TerminalError) throw cause
    throw new RetryableError(`${store} at ${root.endpoint} does not respond`, { cause })
  }
}

interface ToSign {
  method: string
  url: URL
  body: Buffer
  now: Date
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

/** AWS Signature Version 4 in headers. */
function signHeaders(root: StoreRoot, { method, url, body, now }: ToSign): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const day = time.slice(0, 8)
  const scope = `${day}/${root.region}/s3/aws4_request`
  const headers = { host: url.host, 'x-amz-content-sha256': sha256(body), 'x-amz-date': time }
  const names = Object.keys(headers).join(';')
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`)
  const canonical = [method, url.pathname, url.searchParams.toString(), lines.join(''), names, headers['x-amz-content-sha256']].join('\n')
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const signature = createHmac('sha256', signingKeyOf(root, day)).update(toSign).digest('hex')
  const { host: _, ...sent } = headers // the client sets it
  const credential = `${root.accessKey}/${scope}`
  return { ...sent, authorization: `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${names}, Signature=${signature}` }
}
