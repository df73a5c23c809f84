// Reads of bodies from runners, webhook endpoints, proxies and stores. The sender chooses the length, so every read has a limit. The caller's
// signal limits the time.

/** Maximum bytes of response headers: the default of Node and undici, independent of `--max-http-header-size`. */
export const MAX_HEADER_BYTES = 16 * 1024

/** The sender exceeded the limit of the reader. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError'
}

/**
 * Reads a whole body.
 * @throws TooLongError if the body exceeds `maxBytes`; this also destroys the stream and its connection
 */
export async function readAtMost(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new TooLongError(`the response has more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Reads at most `maxBytes` of a body, and destroys the stream if there is more. */
export async function readBeginning(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes)
}
