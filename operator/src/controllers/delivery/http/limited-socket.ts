import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { TooLongError } from '@tintype/crds/runtime/limited-read'

/** A TCP connection that reads a limited number of bytes before it is destroyed with a {@link TooLongError}. */
export class LimitedSocket extends Duplex {
  readonly #socket: Socket
  readonly #maxBytes: number
  #left: number
  #isTooLong = false

  constructor(socket: Socket, maxBytes: number) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    this.#maxBytes = maxBytes
    this.#left = maxBytes
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  /** Allows `maxBytes` from now on. */
  restart(): void {
    this.#left = this.#maxBytes
  }

  #receive(chunk: Buffer): void {
    this.#isTooLong = chunk.length > this.#left
    const allowed = chunk.subarray(0, this.#left)
    this.#left -= allowed.length
    if (!this.push(allowed) || this.#isTooLong) this.#socket.pause()
    // The reader handles the allowed bytes first: they may contain the whole response.
    if (this.#isTooLong) setImmediate(() => this.destroy(new TooLongError(`the endpoint sent more than ${this.#maxBytes / 1024} KiB`)))
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
