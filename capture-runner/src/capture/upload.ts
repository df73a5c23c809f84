import { createHash } from 'node:crypto'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { MAX_HEADER_BYTES, readBeginning } from '@tintype/crds/runtime/limited-read'
import { Agent, request } from 'undici'
import { CaptureError } from '../runtime/errors.ts'
import { pause } from '../runtime/race.ts'

// One object, one presigned PUT, repeated while the store is away and the attempt has time. `If-None-Match: *` is among its signed headers, so
// an object once stored is never overwritten, not even by ourselves.

/** What the store says of the object. */
export interface Stored {
  etag: string
  fileSizeBytes: number
}

const FIRST_DELAY_MILLISECONDS = 100
const MAX_DELAY_MILLISECONDS = 2_000
/** Milliseconds after which an answer is not waited for any more: what a try may take, and more for each byte. */
const TRY_MILLISECONDS = 8_000
const BYTES_PER_MILLISECOND = 1_000
const REPEATABLE = new Set([408, 429, 500, 502, 503, 504, 507])

const agent = new Agent({ keepAliveTimeout: 60_000, connect: { timeout: 5_000 }, maxHeaderSize: MAX_HEADER_BYTES })
/** A refusal's text is not looked at; what is short enough is read for the sake of the connection. */
const MAX_BODY_BYTES = 16 * 1024

/**
 * Stores the picture.
 * @param signal ends with the attempt: whatever was the last obstacle is then the reason
 * @throws CaptureError TOO_LARGE, STORAGE_FAILED; the signal's reason when it was aborted for another one than time
 */
export async function upload(picture: Buffer, order: CaptureOrder['upload'], signal: AbortSignal): Promise<Stored> {
  if (picture.length > order.maxBytes) {
    throw new CaptureError('TOO_LARGE', `the picture has ${picture.length} bytes, the limit is ${order.maxBytes}`)
  }
  // After a try whose end is unknown, "exists already" may mean that it had succeeded.
  let isUncertain = false
  for (let tries = 0; ; tries++) {
    const answer = await put(picture, order, signal)
    if (answer.status === 200) return { etag: answer.etag ?? md5(picture), fileSizeBytes: picture.length }
    // Only a file that matches the recorded tag is ever served: a foreign object under our key cannot pass for ours.
    if (answer.status === 412 && isUncertain) return { etag: md5(picture), fileSizeBytes: picture.length }
    if (answer.status !== undefined && !REPEATABLE.has(answer.status)) {
      throw new CaptureError('STORAGE_FAILED', `the store answered ${answer.status}`)
    }
    isUncertain ||= answer.status === undefined || answer.status >= 500
    await pause(delayOf(tries), signal).catch((reason) => {
      throw toStorageError(reason, answer)
    })
  }
}

interface Answer {
  /** Absent: there was none. */
  status?: number
  etag?: string
  cause?: unknown
}

async function put(picture: Buffer, { url, headers }: CaptureOrder['upload'], signal: AbortSignal): Promise<Answer> {
  const patience = AbortSignal.timeout(TRY_MILLISECONDS + Math.ceil(picture.length / BYTES_PER_MILLISECOND))
  try {
    const {
      statusCode,
      headers: answered,
      body,
    } = await request(url, {
      method: 'PUT',
      headers: { ...headers, 'content-length': String(picture.length) },
      body: picture,
      signal: AbortSignal.any([signal, patience]),
      dispatcher: agent,
    })
    await readBeginning(body, MAX_BODY_BYTES)
    const etag = String(answered.etag ?? '').replaceAll('"', '')
    return { status: statusCode, ...(etag ? { etag } : {}) }
  } catch (cause) {
    return { cause }
  }
}

/** Exponential with jitter: the runners of a pool must not come back all at once. */
const delayOf = (tries: number): number =>
  Math.min(MAX_DELAY_MILLISECONDS, FIRST_DELAY_MILLISECONDS * 2 ** tries) * (0.5 + Math.random() / 2)

/** The tag that S3 gives to an object stored by one PUT. */
const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex')

function toStorageError(reason: unknown, { status, cause }: Answer): unknown {
  if (!(reason instanceof CaptureError) || reason.code !== 'TIMEOUT') return reason
  return new CaptureError('STORAGE_FAILED', status === undefined ? 'the store did not answer' : `the store answered ${status}`, { cause })
}
