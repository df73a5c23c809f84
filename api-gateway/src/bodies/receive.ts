import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ApiError, invalid } from '../common/errors.ts'
import { MAX_UTF8_BYTES } from '../http/body.ts'
import type { BodyLease } from './budget.ts'
import { ByteBuffer } from './byte-buffer.ts'
import { JsonScan, MAX_DEPTH, MAX_VALUES, type ScanProblem } from './json-scan.ts'

// Receives the bytes of a JSON body, and ends it as soon as it breaks a limit.

/** A body must arrive with this average rate in every window. The last window can be shorter. */
const MIN_BYTES_PER_SECOND = 4_096
const WINDOW_SECONDS = 10
/** A body without an API key has few bytes and must arrive within this time: anybody can open connections. */
const ANONYMOUS_SECONDS = 2

const DECOMPRESSORS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  br: createBrotliDecompress,
  deflate: createInflate,
}

/** How a body arrives. */
interface Reception {
  /** Maximum bytes, after decompression. */
  maxBytes: number
  /** Content-Length; undefined for a chunked body. */
  declaredBytes: number | undefined
  /** Content-Encoding. */
  encoding: string | undefined
  lease: BodyLease
  /** True without an API key. */
  isAnonymous: boolean
}

/**
 * Reads a body to its end, decompressed. After an error, the rest of the body is left.
 * @throws ApiError PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, REQUEST_TIMEOUT, SERVICE_UNAVAILABLE, VALIDATION_ERROR; the error of the stream
 */
export function receiveBody(payload: Readable, { maxBytes, declaredBytes, encoding, lease, isAnonymous }: Reception): Promise<ByteBuffer> {
  const decompressor = openDecompressor(encoding)
  const source: Readable = decompressor ?? payload
  const scan = new JsonScan()
  const bytes = new ByteBuffer({ expectedBytes: decompressor ? undefined : declaredBytes, maxBytes, cover: lease.cover })
  let [arrived, counted] = [0, 0]
  let isSettled = false
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      isSettled = true
      clearInterval(timer)
      payload.off('data', onArrival).off('error', fail)
      source.off('data', onData).off('end', onEnd)
    }
    const fail = (error: unknown): void => {
      // A decompressor can emit an error after its end.
      if (isSettled) return
      stop()
      if (decompressor) payload.unpipe(decompressor)
      decompressor?.destroy()
      bytes.free()
      payload.pause()
      reject(error)
    }
    const onArrival = ({ length }: Buffer): void => {
      arrived += length
    }
    const onData = (chunk: Buffer): void => {
      try {
        const problem = scan.add(chunk)
        if (problem) throw toError(problem)
        if (bytes.length + chunk.length > maxBytes) throw tooLarge(maxBytes)
        if (scan.utf8Bytes > MAX_UTF8_BYTES) throw tooLarge(MAX_UTF8_BYTES, String.raw`, and each \uXXXX counts as 3 bytes`)
        lease.note(chunk.length)
        bytes.add(chunk)
      } catch (error) {
        fail(error)
      }
    }
    const onEnd = (): void => {
      stop()
      resolve(bytes)
    }
    const checkRate = (): void => {
      if (arrived - counted < MIN_BYTES_PER_SECOND * WINDOW_SECONDS) fail(tooSlow())
      counted = arrived
    }
    const timer = isAnonymous
      ? setInterval(() => fail(tooLate()), 1_000 * ANONYMOUS_SECONDS)
      : setInterval(checkRate, 1_000 * WINDOW_SECONDS)
    lease.onEnd(fail)
    payload.on('data', onArrival).on('error', fail)
    source.on('data', onData).on('end', onEnd)
    decompressor?.on('error', (error: unknown) => fail(notCompressed(encoding, error)))
    if (decompressor) payload.pipe(decompressor)
  })
}

/** @throws ApiError UNSUPPORTED_MEDIA_TYPE */
function openDecompressor(encoding = 'identity'): Transform | undefined {
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return undefined
  if (Object.hasOwn(DECOMPRESSORS, name)) return DECOMPRESSORS[name]?.()
  const message = 'Content-Encoding of the body must be gzip, br or deflate, once: send the body in one of them, or uncompressed'
  throw new ApiError('UNSUPPORTED_MEDIA_TYPE', message, { headers: { 'accept-encoding': 'gzip, br, deflate' } })
}

/** The error of a body above its limit. */
export const tooLarge = (maxBytes: number, hint = ''): ApiError =>
  new ApiError('PAYLOAD_TOO_LARGE', `the body is larger than ${toSize(maxBytes)}${hint}`, { details: { limit_bytes: maxBytes } })

const toSize = (bytes: number): string => (bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1_024} KiB`)

const tooSlow = (): ApiError =>
  new ApiError(
    'REQUEST_TIMEOUT',
    `the body arrives too slowly: each ${WINDOW_SECONDS} seconds must bring at least ${MIN_BYTES_PER_SECOND} bytes per second on average`,
  )

const tooLate = (): ApiError =>
  new ApiError(
    'REQUEST_TIMEOUT',
    `the body of a request without an API key must arrive within ${ANONYMOUS_SECONDS} seconds: send it faster`,
  )

const bodyProblem = (code: 'too_big' | 'invalid_format', message: string, cause?: unknown): ApiError =>
  Object.assign(invalid([{ path: '', code, message }]), { cause })

const notCompressed = (encoding: string | undefined, cause: unknown): ApiError =>
  bodyProblem(
    'invalid_format',
    `the body is not valid ${encoding}, as Content-Encoding says: compress all of it, or leave the header out`,
    cause,
  )

const count = (value: number): string => value.toLocaleString('en-US')

/** The error for a text that JSON.parse should not read. */
function toError(problem: ScanProblem): ApiError {
  if (problem === 'depth') return bodyProblem('too_big', `the body has more than ${MAX_DEPTH} levels of nested objects and lists`)
  if (problem === 'values') return bodyProblem('too_big', `the body has more than ${count(MAX_VALUES)} values: send fewer fields and items`)
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', 'the body is in UTF-16 or UTF-32, or is not text: send JSON in UTF-8')
}
