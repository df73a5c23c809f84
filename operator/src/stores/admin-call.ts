import { createHash, createHmac } from 'node:crypto'
import { signingKeyOf } from '@tintype/crds/crypto/presign'
import { readAtMost, readBeginning } from '@tintype/crds/runtime/limited-read'
import { request } from 'undici'
import { RetryableError, TerminalError } from '../controller-runtime/errors.ts'
import type { StoreRoot } from './driver.ts'

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
