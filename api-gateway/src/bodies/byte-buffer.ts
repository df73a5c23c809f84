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
