// Reads of what others send: runners, webhook receivers, proxies, stores. Their length is theirs to choose, so every read has a limit. How long it
// may take is the caller's signal.

/** Bytes of a response's headers, at most: what Node and undici take by default, whatever `--max-http-header-size` says. */
export const MAX_HEADER_BYTES = 16 * 1024

/** The other side sent more than its reader takes. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError'
}

/**
 * Reads a body to its end.
 * @throws TooLongError beyond `maxBytes`; the stream is destroyed then, and with it the connection
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

/** Reads the beginning of a body, and no more than `maxBytes` of it: beyond them the stream is destroyed. */
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
