import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import type { StoredArtifact } from '@tintype/crds/kinds/page-notes'
import { MAX_HEADER_BYTES, readBeginning } from '@tintype/crds/runtime/limited-read'
import { doubled, repeat } from '@tintype/crds/runtime/retry'
import { ETAG_HASH, etagOf, isConditionUnmet, isRepeatable } from '@tintype/crds/storage/s3/presigned'
import { Agent, request } from 'undici'
import { type Content, hashOf, sizeOfContent, streamOf } from '../runtime/content.ts'
import { CaptureError } from '../runtime/errors.ts'
import { pause } from '../runtime/race.ts'
import type { Findings } from '../steps/step.ts'
import { type Stored, toSize } from './outcome.ts'

// Uploads one object by a presigned PUT, with retries while the storage is unavailable and the attempt has time. `If-None-Match: *` is among the signed
// headers, so a stored object is never overwritten, not even by a retry.

const FIRST_DELAY_MILLISECONDS = 100
const MAX_DELAY_MILLISECONDS = 2_000
/** Time limit of one attempt, plus time for each byte. */
const TRY_MILLISECONDS = 8_000
const BYTES_PER_MILLISECOND = 1_000

const agent = new Agent({ keepAliveTimeout: 60_000, connect: { timeout: 5_000 }, maxHeaderSize: MAX_HEADER_BYTES })
/** Error bodies are ignored. Short ones are read so that the connection can be reused. */
const MAX_BODY_BYTES = 16 * 1024

/**
 * Stores the file of a capture.
 * @param signal aborts with the attempt; the error then names the last obstacle
 * @throws CaptureError TOO_LARGE, STORAGE_FAILED; the signal's reason if that is not a timeout
 */
export async function upload(content: Content, order: CaptureOrder['upload'], signal: AbortSignal): Promise<Stored> {
  const fileSizeBytes = sizeOfContent(content)
  if (fileSizeBytes > order.maxBytes) {
    throw new CaptureError('TOO_LARGE', `the file has ${fileSizeBytes} bytes, the limit is ${order.maxBytes}`)
  }
  // After an attempt with unknown result, "already exists" may mean that it had succeeded.
  let isUncertain = false
  let last: PutResponse = {}
  const delayOf = (response: PutResponse, attempt: number): number | undefined => {
    if (response.status !== undefined && !isRepeatable(response.status)) return undefined
    last = response
    isUncertain ||= response.status === undefined || response.status >= 500
    return delayMilliseconds(attempt)
  }
  const wait = (milliseconds: number) =>
    pause(milliseconds, signal).catch((reason) => {
      throw toStorageError(reason, last)
    })
  const { status, etag } = await repeat(() => put(content, order, signal), { delayOf, wait })
  if (status === 200) return { etag: etag ?? (await hashOf(content, ETAG_HASH, signal)), fileSizeBytes }
  // Safe, because only a file that matches the recorded ETag is ever served. A foreign object under our key would not match.
  if (status !== undefined && isConditionUnmet(status) && isUncertain)
    return { etag: await hashOf(content, ETAG_HASH, signal), fileSizeBytes }
  throw new CaptureError('STORAGE_FAILED', `the storage returned ${status}`)
}

interface PutResponse {
  /** Absent: no response. */
  status?: number
  etag?: string
  cause?: unknown
}

async function put(content: Content, { url, headers }: CaptureOrder['upload'], signal: AbortSignal): Promise<PutResponse> {
  const bytes = sizeOfContent(content)
  const timeout = AbortSignal.timeout(TRY_MILLISECONDS + Math.ceil(bytes / BYTES_PER_MILLISECOND))
  try {
    const {
      statusCode,
      headers: responseHeaders,
      body,
    } = await request(url, {
      method: 'PUT',
      headers: { ...headers, 'content-length': String(bytes) },
      body: Buffer.isBuffer(content) ? content : streamOf(content),
      signal: AbortSignal.any([signal, timeout]),
      dispatcher: agent,
    })
    await readBeginning(body, MAX_BODY_BYTES)
    const etag = etagOf(responseHeaders)
    return { status: statusCode, ...(etag ? { etag } : {}) }
  } catch (cause) {
    return { cause }
  }
}

/** Exponential backoff with jitter, so that the runners of a pool do not retry all at once. */
const delayMilliseconds = (attempt: number): number =>
  doubled(FIRST_DELAY_MILLISECONDS, MAX_DELAY_MILLISECONDS, attempt) * (0.5 + Math.random() / 2)

function toStorageError(reason: unknown, { status, cause }: PutResponse): unknown {
  if (!(reason instanceof CaptureError) || reason.code !== 'TIMEOUT') return reason
  return new CaptureError('STORAGE_FAILED', status === undefined ? 'the storage did not respond' : `the storage returned ${status}`, {
    cause,
  })
}

/**
 * Stores the additional files. A file that is too large is left out with a warning, because the screenshot matters most.
 * @throws CaptureError STORAGE_FAILED; the signal's reason
 */
export async function uploadArtifacts(findings: Findings, order: CaptureOrder, signal: AbortSignal): Promise<StoredArtifact[]> {
  const places = (order.artifacts ?? []).flatMap(({ type, upload: place }) => {
    const bytes = findings.files.get(type)
    return bytes ? [{ type, place, bytes }] : []
  })
  const fitting = places.filter(({ type, place, bytes }) => {
    if (bytes.length <= place.maxBytes) return true
    findings.warnings.push(`${type} was left out: it has ${toSize(bytes.length)}`)
    return false
  })
  return Promise.all(
    fitting.map(async ({ type, place, bytes }) => {
      const { etag, fileSizeBytes } = await upload(bytes, place, signal)
      const places = type === 'preview' ? findings.preview : undefined
      return { type, fileSizeBytes, etag, ...(places ? { preview: places } : {}) }
    }),
  )
}
