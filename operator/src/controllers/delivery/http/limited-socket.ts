import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { TooLongError } from '@tintype/crds/runtime/limited-read'

/** What may arrive before the connection is destroyed. */
export interface SocketLimits {
  bytes: number
  /** TLS records. Each one makes Node.js allocate a buffer of many KiB, so that a few thousand of one byte occupy the garbage collector. */
  records: number
}

/** A TCP connection for TLS that reads a limited number of bytes and of records before it is destroyed with a {@link TooLongError}. */
export class LimitedSocket extends Duplex {
  readonly #socket: Socket
  readonly #limits: SocketLimits
  readonly #records = new RecordScanner()
  #left: SocketLimits
  #isTooLong = false

  constructor(socket: Socket, limits: SocketLimits) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    this.#limits = limits
    this.#left = { ...limits }
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  /** Allows as much again from now on. */
  restart(): void {
    this.#left = { ...this.#limits }
  }

  #receive(chunk: Buffer): void {
    const { bytes, records } = this.#left
    const { started, end } = this.#records.scan(chunk.subarray(0, bytes), records)
    const allowed = chunk.subarray(0, end)
    this.#isTooLong = end < chunk.length
    this.#left = { bytes: bytes - end, records: records - started }
    if (!this.push(allowed) || this.#isTooLong) this.#socket.pause()
    if (!this.#isTooLong) return
    const most = end < Math.min(bytes, chunk.length) ? `${this.#limits.records} TLS records` : `${this.#limits.bytes / 1024} KiB`
    // The reader handles the allowed bytes first: they may contain the whole response.
    setImmediate(() => this.destroy(new TooLongError(`the endpoint sent more than ${most}`)))
  }

  override _read(): void {
    if (!this.#isTooLong) this.#socket.resume()
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }
}

const RECORD_HEADER_BYTES = 5

/** Finds where TLS records start (RFC 8446, 5.1): a type, a version and the length of what follows, in plain text also when that is encrypted. */
class RecordScanner {
  #header = Buffer.alloc(RECORD_HEADER_BYTES)
  #headerLength = 0
  /** Bytes of the present record that have not arrived. */
  #rest = 0

  /** Reads on until more than `max` records would start. Returns how many started, and how many bytes belong to them. */
  scan(bytes: Buffer, max: number): { started: number; end: number } {
    let started = 0
    let end = 0
    while (end < bytes.length) {
      if (this.#rest > 0) {
        const skipped = Math.min(this.#rest, bytes.length - end)
        this.#rest -= skipped
        end += skipped
        continue
      }
      if (this.#headerLength === 0 && started++ === max) return { started: max, end }
      const copied = bytes.copy(this.#header, this.#headerLength, end)
      this.#headerLength += copied
      end += copied
      if (this.#headerLength < RECORD_HEADER_BYTES) break
      this.#headerLength = 0
      this.#rest = this.#header.readUInt16BE(3)
    }
    return { started, end }
  }
}
