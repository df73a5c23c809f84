import { once } from 'node:events'
import https from 'node:https'
import { pipeline } from 'node:stream/promises'
import tls from 'node:tls'
import { isAddressLiteral } from '@tintype/crds/addresses/address-rules'
import { presign } from '@tintype/crds/crypto/presign'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { CONTENT_TYPES } from '@tintype/crds/options/output/formats'
import { MAX_HEADER_BYTES, readBeginning } from '@tintype/crds/runtime/limited-read'
import { repeat } from '@tintype/crds/runtime/retry'
import { EgressError, RefusedHostError, systemCodeOf } from '../egress/egress-error.ts'
import type { Guard } from '../egress/guard.ts'
import type { EgressPolicy } from '../egress/route.ts'
import { type CapturePlan, formatOf } from '../plan/plan.ts'
import { type CopyPlan, toCopyKey } from '../plan/storage.ts'
import { type Content, sizeOfContent, streamOf } from '../runtime/content.ts'
import { CaptureError } from '../runtime/errors.ts'
import { pause } from '../runtime/race.ts'

// Copies the screenshot to the client's own storage. It is written before the upload to our storage, so that a capture never succeeds without its
// copy. The connection passes the guard like a page's. The client learns only the status and the error code of the response.

/** The object to write. */
export interface Copy {
  key: string
  contentType: string
}

/** What a copy needs from the runner. */
export interface CopyParts {
  guard: Pick<Guard, 'connect'>
  policy: EgressPolicy
  /** Milliseconds before each retry; only tests set other values. */
  delays?: readonly number[]
}

/** The id of an order's screenshot, from its upload URL. An object created with kubectl has another name, but its file is named by the operator. */
const idOf = ({ upload }: Pick<CaptureOrder, 'upload'>): string => new URL(upload.url).pathname.split('/').at(-1)?.split('.')[0] ?? ''

/** Writes the copy if the order asks for one. @throws like {@link copyPicture} */
export async function copyIfAsked(
  content: Content,
  order: Pick<CaptureOrder, 'url' | 'upload'>,
  plan: Pick<CapturePlan, 'copy' | 'picture' | 'video'>,
  { guard, policy }: Partial<CopyParts> & Pick<CopyParts, 'policy'>,
  signal: AbortSignal,
): Promise<void> {
  const { copy } = plan
  if (!copy) return
  if (!guard) throw new CaptureError('COPY_FAILED', 'this runner does not support storage_bucket')
  const format = formatOf(plan)
  const key = toCopyKey(copy.path, { id: idOf(order), url: order.url, format, now: new Date() })
  await copyPicture(content, copy, { key, contentType: CONTENT_TYPES[format] }, { guard, policy }, signal)
}

/** Retry delays. A storage that is unavailable for a moment must not fail the capture. */
const DELAYS_MILLISECONDS = [500, 2_000, 8_000]
const TRY_MILLISECONDS = 10_000
const BYTES_PER_MILLISECOND = 250
const REPEATABLE = new Set([408, 429, 500, 502, 503, 504])
/** S3 error codes that may be temporary. */
const REPEATABLE_CODES = new Set(['SlowDown', 'InternalError', 'RequestTimeout', 'ServiceUnavailable'])
const EXPIRES_SECONDS = 900
const MAX_ANSWER_BYTES = 16_384

/**
 * Writes the copy, with retries while the storage is unavailable.
 * @throws CaptureError COPY_FAILED, BLOCKED_ADDRESS, URL_NOT_ALLOWED; the signal's reason
 */
export async function copyPicture(content: Content, plan: CopyPlan, copy: Copy, parts: CopyParts, signal: AbortSignal): Promise<void> {
  const delays = parts.delays ?? DELAYS_MILLISECONDS
  const work = async () => {
    const failure = await put(content, plan, copy, parts, signal)
    signal.throwIfAborted()
    return failure
  }
  const failure = await repeat(work, {
    delayOf: (failure, attempt) => (failure?.isTransient ? delays[attempt - 1] : undefined),
    wait: (milliseconds) => pause(milliseconds, signal),
  })
  if (failure) throw failure.error
}

interface Failure {
  error: CaptureError
  /** A retry may succeed. */
  isTransient: boolean
}

const failed = (what: string, isTransient: boolean, cause?: unknown): Failure => ({
  error: new CaptureError('COPY_FAILED', `the picture could not be copied to storage_bucket: ${what}`, { cause }),
  isTransient,
})

async function put(content: Content, plan: CopyPlan, copy: Copy, parts: CopyParts, signal: AbortSignal): Promise<Failure | undefined> {
  const timeout = AbortSignal.timeout(TRY_MILLISECONDS + Math.ceil(sizeOfContent(content) / BYTES_PER_MILLISECOND))
  try {
    const { status, code } = await send(content, plan, copy, parts, AbortSignal.any([signal, timeout]))
    if (status === 200) return undefined
    const word = code === undefined ? '' : ` ${code}`
    return failed(`the storage returned ${status}${word}`, REPEATABLE.has(status) || REPEATABLE_CODES.has(code ?? ''))
  } catch (cause) {
    if (cause instanceof RefusedHostError) {
      return { error: new CaptureError('URL_NOT_ALLOWED', `storage_endpoint: ${cause.message}`, { cause }), isTransient: false }
    }
    if (cause instanceof EgressError && cause.code === 'BLOCKED_ADDRESS') {
      const message = cause.publicMessage ?? 'its address is not open to captures'
      return { error: new CaptureError('BLOCKED_ADDRESS', `storage_endpoint: ${message}`, { cause }), isTransient: false }
    }
    const why = cause instanceof EgressError ? cause.systemCode : systemCodeOf(cause)
    const isTime = timeout.aborted
    return failed(
      isTime ? 'the storage did not respond in time' : `the storage did not respond${why === undefined ? '' : ` (${why})`}`,
      true,
      cause,
    )
  }
}

async function send(content: Content, plan: CopyPlan, { key, contentType }: Copy, { guard, policy }: CopyParts, signal: AbortSignal) {
  const headers = { 'content-type': contentType }
  const url = new URL(presign(plan, { method: 'PUT', key, headers, expiresSeconds: EXPIRES_SECONDS, now: new Date() }))
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = await guard.connect({ host: url.hostname, port: Number(url.port) || 443 }, policy)
  // The certificate must match the host that the client gave, regardless of the IP address.
  const secured = tls.connect({ socket, host, ...(isAddressLiteral(host) ? {} : { servername: host }), ALPNProtocols: ['http/1.1'] })
  try {
    await once(secured, 'secureConnect', { signal })
    return await exchange({ url, headers, content, secured, signal })
  } finally {
    secured.destroy()
    socket.destroy()
  }
}

interface Exchange {
  url: URL
  headers: Record<string, string>
  content: Content
  secured: tls.TLSSocket
  signal: AbortSignal
}

function exchange({ url, headers, content, secured, signal }: Exchange): Promise<{ status: number; code: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = https.request({
      method: 'PUT',
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host, 'content-length': String(sizeOfContent(content)), connection: 'close' },
      createConnection: () => secured,
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
    })
    request.once('error', reject)
    request.once('response', (response) => {
      const status = response.statusCode ?? 0
      response.once('error', reject)
      if (status === 200) {
        response.resume()
        resolve({ status, code: undefined })
      } else codeOf(response).then((code) => resolve({ status, code }), reject)
    })
    if (Buffer.isBuffer(content)) request.end(content)
    // The request reports the error of a connection. A file that cannot be read ends the request.
    else pipeline(streamOf(content), request).catch(reject)
  })
}

/** Reads the error code from S3's response; the rest of it is not passed on. */
async function codeOf(response: AsyncIterable<Buffer>): Promise<string | undefined> {
  const beginning = await readBeginning(response, MAX_ANSWER_BYTES)
  return /<Code>([A-Za-z]{1,64})<\/Code>/.exec(beginning.toString())?.[1]
}
