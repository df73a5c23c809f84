import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ApiError, invalid } from '../common/errors.ts'
import { MAX_UTF8_BYTES } from '../http/body.ts'
import type { BodyLease } from './budget.ts'

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

const FIRST_BYTES = 4_096

interface ByteBufferOptions {
  /** Announced length; undefined if it is not known. Only what has arrived takes memory. */
  expectedBytes: number | undefined
  maxBytes: number
  /** Called with the size of the buffer before it grows. May throw. */
  cover: (bytes: number) => void
}

/**
 * Collects chunks in one buffer, because many small chunks need many times their bytes as objects of their own. Its memory can be freed at once. The
 * garbage collector frees large buffers late, and several of them together need more memory than the process has.
 */
export class ByteBuffer {
  readonly #options: ByteBufferOptions
  #bytes: Buffer<ArrayBuffer> | undefined
  /** False for a chunk that belongs to the stream. */
  #isOwn = false
  #length = 0

  constructor(options: ByteBufferOptions) {
    this.#options = options
  }

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    const { expectedBytes = FIRST_BYTES, cover } = this.#options
    // Most bodies arrive in one chunk.
    if (!this.#bytes && chunk.length >= expectedBytes) {
      cover(chunk.length)
      this.#bytes = chunk as Buffer<ArrayBuffer>
    } else {
      this.#reserve(this.#length + chunk.length)
      chunk.copy(this.#bytes as Buffer, this.#length)
    }
    this.#length += chunk.length
  }

  /** Returns what `read` returns for all bytes, and frees them. */
  read<T>(read: (bytes: Buffer) => T): T {
    try {
      return read(this.#bytes?.subarray(0, this.#length) ?? Buffer.alloc(0))
    } finally {
      this.free()
    }
  }

  free(): void {
    // A transferred buffer is detached: its memory is freed immediately.
    if (this.#bytes && this.#isOwn) this.#bytes.buffer.transfer(0)
    this.#bytes = undefined
    this.#isOwn = false
  }

  #reserve(length: number): void {
    const present = this.#bytes
    if (present && this.#isOwn && length <= present.length) return
    const { expectedBytes, maxBytes, cover } = this.#options
    const size = Math.max(length, Math.min(expectedBytes ?? maxBytes, Math.max(FIRST_BYTES, 2 * (present?.length ?? 0))))
    cover(size)
    const larger = Buffer.allocUnsafeSlow(size)
    present?.copy(larger, 0, 0, this.#length)
    this.free()
    this.#bytes = larger
    this.#isOwn = true
  }
}

// Bounds nesting and the number of values of a JSON text while its bytes arrive. A few megabytes of small values become hundreds of megabytes of objects,
// and a parser cannot be stopped. This is no parser: it finds strings, brackets, commas and colons, and JSON.parse reports errors of syntax.

/** Maximum levels of nested objects and lists. */
export const MAX_DEPTH = 32
/** Maximum values: objects, lists, texts, numbers, true, false and null. Names of fields do not count. */
export const MAX_VALUES = 20_000

/** What is wrong with the bytes so far. `encoding`: no JSON text in UTF-8 has these bytes, but texts in UTF-16 and UTF-32 do. */
type ScanProblem = 'depth' | 'values' | 'encoding'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
/** A character as `\uXXXX` has six bytes, and at most three in UTF-8. */
const SAVED_BYTES = 3

const [SPACE, SCALAR, TEXT, OPEN, CLOSE, COMMA, COLON, FOREIGN] = [0, 1, 2, 3, 4, 5, 6, 7]
/** What each byte means outside of texts. */
const KINDS = new Uint8Array(256).fill(SCALAR)
for (const [kind, bytes] of [
  // Three of these are the byte order mark of UTF-8.
  [SPACE, [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]],
  [TEXT, [QUOTE]],
  [OPEN, [0x7b, 0x5b]],
  [CLOSE, [0x7d, 0x5d]],
  [COMMA, [0x2c]],
  [COLON, [0x3a]],
  [FOREIGN, [0x00, 0xfe, 0xff]],
] as const)
  for (const byte of bytes) KINDS[byte] = kind

/** Bytes of a text that are compared one by one before the search for its end is left to Node.js, which pays for long texts only. */
const NEAR_BYTES = 48

/** Scans one text. */
export class JsonScan {
  #depth = 0
  #values = 0
  #isInText = false
  #isEscaped = false
  #isInScalar = false
  /** 1 after a text that can still be the name of a field. */
  #pending = 0
  #bytes = 0
  #savedBytes = 0

  /** Size of the bytes so far if each `\uXXXX` is a character in UTF-8. */
  get utf8Bytes(): number {
    return this.#bytes - this.#savedBytes
  }

  /** Scans the next bytes. Returns the first problem. */
  add(bytes: Buffer): ScanProblem | undefined {
    const { length } = bytes
    this.#bytes += length
    const search = { quote: -1, backslash: -1 }
    for (let index = 0; index < length; index++) {
      if (this.#isInText) index = this.#skipText(bytes, index, search)
      else {
        const problem = this.#addByte(KINDS[bytes[index] as number] as number)
        if (problem) return problem
      }
    }
    return undefined
  }

  /** Skips to the end of a text. Returns the index of its last byte in these bytes. */
  #skipText(bytes: Buffer, start: number, search: { quote: number; backslash: number }): number {
    const { length } = bytes
    let index = start
    if (this.#isEscaped) this.#addEscape(bytes[index++])
    while (index < length) {
      const near = Math.min(index + NEAR_BYTES, length)
      let byte = 0
      while (index < near) {
        byte = bytes[index++] as number
        if (byte === QUOTE || byte === BACKSLASH) break
      }
      if (byte === QUOTE) {
        this.#isInText = false
        this.#pending = 1
        return index - 1
      }
      if (byte === BACKSLASH) {
        // The escaped byte can be the first of the next chunk.
        if (index < length) this.#addEscape(bytes[index++])
        else this.#isEscaped = true
      } else if (index < length) index = skipPlain(bytes, index, search)
    }
    return length
  }

  #addEscape(byte: number | undefined): void {
    this.#isEscaped = false
    if (byte === LETTER_U) this.#savedBytes += SAVED_BYTES
  }

  #addByte(kind: number): ScanProblem | undefined {
    if (kind === SPACE) {
      this.#isInScalar = false
      return undefined
    }
    if (kind === SCALAR) {
      if (!this.#isInScalar) this.#values++
      this.#isInScalar = true
    } else {
      this.#isInScalar = false
      if (kind !== COLON) this.#values += this.#pending
      this.#pending = 0
      if (kind === TEXT) this.#isInText = true
      else if (kind === OPEN) {
        this.#values++
        if (++this.#depth > MAX_DEPTH) return 'depth'
      } else if (kind === CLOSE) this.#depth--
      else if (kind === FOREIGN) return 'encoding'
    }
    return this.#values > MAX_VALUES ? 'values' : undefined
  }
}

/** Index of the next quote or backslash. What was found beyond it is kept in `search`, so that all searches together read each byte twice at most. */
function skipPlain(bytes: Buffer, index: number, search: { quote: number; backslash: number }): number {
  if (search.quote < index) search.quote = indexOf(bytes, QUOTE, index)
  if (search.backslash < index) search.backslash = indexOf(bytes, BACKSLASH, index)
  return Math.min(search.quote, search.backslash)
}

function indexOf(bytes: Buffer, byte: number, start: number): number {
  const index = bytes.indexOf(byte, start)
  return index < 0 ? bytes.length : index
}
