import { once } from 'node:events'
import https from 'node:https'
import tls from 'node:tls'
import { isAddressLiteral } from '@tintype/crds/addresses/address-rules'
import { presign } from '@tintype/crds/crypto/presign'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { CONTENT_TYPES } from '@tintype/crds/options/output/image'
import { MAX_HEADER_BYTES, readBeginning } from '@tintype/crds/runtime/limited-read'
import { EgressError, systemCodeOf } from '../egress/egress-error.ts'
import type { Guard } from '../egress/guard.ts'
import type { EgressPolicy } from '../egress/policy.ts'
import type { CapturePlan } from '../plan/plan.ts'
import { type CopyPlan, toCopyKey } from '../plan/storage.ts'
import { CaptureError } from '../runtime/errors.ts'
import { pause } from '../runtime/race.ts'

// The picture in a store of the client's own. It is written before ours: who asked for the copy is not told of a picture that it has not got. The
// store's address goes the way of a page's, past the guard; of its answer nothing is told but the status and a code.

/** One object to write. */
export interface Copy {
  key: string
  contentType: string
}

/** What a copy needs of the runner. */
export interface CopyParts {
  guard: Pick<Guard, 'connect'>
  policy: EgressPolicy
  /** Milliseconds before each repetition; the product's unless a test has its own. */
  delays?: readonly number[]
}

/** The id of an order's screenshot: an object made by hand has another name, and its file is named by the operator. */
const idOf = ({ upload }: Pick<CaptureOrder, 'upload'>): string => new URL(upload.url).pathname.split('/').at(-1)?.split('.')[0] ?? ''

/** Writes the copy that an order asks for, if it does. @throws as {@link copyPicture} */
export async function copyIfAsked(
  picture: Buffer,
  order: Pick<CaptureOrder, 'url' | 'upload'>,
  { copy, picture: { format } }: Pick<CapturePlan, 'copy' | 'picture'>,
  { guard, policy }: Partial<CopyParts> & Pick<CopyParts, 'policy'>,
  signal: AbortSignal,
): Promise<void> {
  if (!copy) return
  if (!guard) throw new CaptureError('COPY_FAILED', 'this runner copies nothing to storage_bucket')
  const key = toCopyKey(copy.path, { id: idOf(order), url: order.url, format, now: new Date() })
  await copyPicture(picture, copy, { key, contentType: CONTENT_TYPES[format] }, { guard, policy }, signal)
}

/** A store that is away for a moment must not cost the capture. */
const DELAYS_MILLISECONDS = [500, 2_000, 8_000]
const TRY_MILLISECONDS = 10_000
const BYTES_PER_MILLISECOND = 250
const REPEATABLE = new Set([408, 429, 500, 502, 503, 504])
/** S3's own words for what may pass. */
const REPEATABLE_CODES = new Set(['SlowDown', 'InternalError', 'RequestTimeout', 'ServiceUnavailable'])
const EXPIRES_SECONDS = 900
const MAX_ANSWER_BYTES = 16_384

/**
 * Writes the copy, repeated while the store is away.
 * @throws CaptureError COPY_FAILED, BLOCKED_ADDRESS; the signal's reason
 */
export async function copyPicture(picture: Buffer, plan: CopyPlan, copy: Copy, parts: CopyParts, signal: AbortSignal): Promise<void> {
  const delays = parts.delays ?? DELAYS_MILLISECONDS
  for (let tries = 0; ; tries++) {
    const failure = await put(picture, plan, copy, parts, signal)
    signal.throwIfAborted()
    if (!failure) return
    const delay = failure.mayPass ? delays[tries] : undefined
    if (delay === undefined) throw failure.error
    await pause(delay, signal)
  }
}

interface Failure {
  error: CaptureError
  /** Another try may succeed. */
  mayPass: boolean
}

const failed = (what: string, mayPass: boolean, cause?: unknown): Failure => ({
  error: new CaptureError('COPY_FAILED', `the picture could not be copied to storage_bucket: ${what}`, { cause }),
  mayPass,
})

async function put(picture: Buffer, plan: CopyPlan, copy: Copy, parts: CopyParts, signal: AbortSignal): Promise<Failure | undefined> {
  const patience = AbortSignal.timeout(TRY_MILLISECONDS + Math.ceil(picture.length / BYTES_PER_MILLISECOND))
  try {
    const { status, code } = await send(picture, plan, copy, parts, AbortSignal.any([signal, patience]))
    if (status === 200) return undefined
    const word = code === undefined ? '' : ` ${code}`
    return failed(`the store answered ${status}${word}`, REPEATABLE.has(status) || REPEATABLE_CODES.has(code ?? ''))
  } catch (cause) {
    if (cause instanceof EgressError && cause.code === 'BLOCKED_ADDRESS') {
      const message = cause.publicMessage ?? 'its address is not open to captures'
      return { error: new CaptureError('BLOCKED_ADDRESS', `storage_endpoint: ${message}`, { cause }), mayPass: false }
    }
    const why = cause instanceof EgressError ? cause.systemCode : systemCodeOf(cause)
    const isTime = patience.aborted
    return failed(
      isTime ? 'the store did not answer in time' : `the store did not answer${why === undefined ? '' : ` (${why})`}`,
      true,
      cause,
    )
  }
}

async function send(picture: Buffer, plan: CopyPlan, { key, contentType }: Copy, { guard, policy }: CopyParts, signal: AbortSignal) {
  const headers = { 'content-type': contentType }
  const url = new URL(presign(plan, { method: 'PUT', key, headers, expiresSeconds: EXPIRES_SECONDS, now: new Date() }))
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const socket = await guard.connect({ host: url.hostname, port: Number(url.port) || 443 }, policy)
  // The certificate is that of the name which the client gave, whatever address was dialled.
  const secured = tls.connect({ socket, host, ...(isAddressLiteral(host) ? {} : { servername: host }), ALPNProtocols: ['http/1.1'] })
  try {
    await once(secured, 'secureConnect', { signal })
    return await exchange({ url, headers, picture, secured, signal })
  } finally {
    secured.destroy()
    socket.destroy()
  }
}

interface Exchange {
  url: URL
  headers: Record<string, string>
  picture: Buffer
  secured: tls.TLSSocket
  signal: AbortSignal
}

function exchange({ url, headers, picture, secured, signal }: Exchange): Promise<{ status: number; code: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = https.request({
      method: 'PUT',
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host, 'content-length': String(picture.length), connection: 'close' },
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
    request.end(picture)
  })
}

/** The one word of S3's answer that is worth telling. */
async function codeOf(response: AsyncIterable<Buffer>): Promise<string | undefined> {
  const beginning = await readBeginning(response, MAX_ANSWER_BYTES)
  return /<Code>([A-Za-z]{1,64})<\/Code>/.exec(beginning.toString())?.[1]
}
