import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Baseline } from '@tintype/crds/dispatch/dispatch'
import { MAX_HEADER_BYTES } from '@tintype/crds/runtime/limited-read'
import { doubled, repeat } from '@tintype/crds/runtime/retry'
import { isMissing, isRepeatable } from '@tintype/crds/storage/s3/presigned'
import { Agent, request } from 'undici'
import { CaptureError } from '../runtime/errors.ts'
import { pause } from '../runtime/race.ts'

// Downloads the picture to compare with, by a presigned GET, to a file. The download begins with the capture, so that it rarely takes extra time.

const FIRST_DELAY_MILLISECONDS = 100
const MAX_DELAY_MILLISECONDS = 2_000
const IDLE_MILLISECONDS = 10_000

const agent = new Agent({ keepAliveTimeout: 60_000, connect: { timeout: 5_000 }, maxHeaderSize: MAX_HEADER_BYTES })

interface Download {
  /** Absent: no response, or it broke off. */
  status?: number
  sha256?: string
  cause?: unknown
}

/**
 * Downloads the picture, with retries while the storage is unavailable and the attempt has time.
 * @returns its SHA-256 in hex
 * @throws CaptureError BASELINE_NOT_FOUND, STORAGE_FAILED; the signal's reason
 */
export async function fetchBaseline(baseline: Baseline, file: string, signal: AbortSignal): Promise<string> {
  const { status, sha256 } = await repeat(() => download(baseline, file, signal), {
    delayOf: (response, attempt) => {
      signal.throwIfAborted()
      if (response.cause instanceof CaptureError) throw response.cause
      const isFinal = response.status !== undefined && !isRepeatable(response.status)
      return isFinal ? undefined : doubled(FIRST_DELAY_MILLISECONDS, MAX_DELAY_MILLISECONDS, attempt) * (0.5 + Math.random() / 2)
    },
    wait: (milliseconds) => pause(milliseconds, signal),
  })
  if (sha256 !== undefined) return sha256
  if (status !== undefined && isMissing(status)) {
    throw new CaptureError('BASELINE_NOT_FOUND', 'the file of compare_to no longer exists, or was replaced')
  }
  throw new CaptureError('STORAGE_FAILED', `the storage returned ${status} for the file of compare_to`)
}

async function download({ url, headers, maxBytes }: Baseline, file: string, signal: AbortSignal): Promise<Download> {
  try {
    const { statusCode: status, body } = await request(url, { headers, signal, dispatcher: agent, bodyTimeout: IDLE_MILLISECONDS })
    if (status !== 200) {
      await body.dump({ limit: MAX_HEADER_BYTES })
      return { status }
    }
    const hash = createHash('sha256')
    let bytes = 0
    const measure = async function* (source: AsyncIterable<Buffer>) {
      for await (const part of source) {
        bytes += part.length
        if (bytes > maxBytes) throw new CaptureError('BASELINE_NOT_FOUND', `the file of compare_to has more than ${maxBytes} bytes`)
        hash.update(part)
        yield part
      }
    }
    await pipeline(body, measure, createWriteStream(file), { signal })
    return { status, sha256: hash.digest('hex') }
  } catch (cause) {
    return { cause }
  }
}
