import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

// Clients that request files and do not read them, or read them slowly. They come back when the gateway refuses or ends them.

const TRICKLE_BYTES = 2_048
const TRICKLE_MILLISECONDS = 15_000
const RETRY_MILLISECONDS = 1_000

/** What a client does with a response. */
export type SlowClient = 'unread' | 'trickle'

/** Requests the link again and again until the signal is aborted. */
export async function keepDownloading(link: string, how: SlowClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await downloadOnce(link, how, signal)
    await sleep(RETRY_MILLISECONDS, undefined, { signal }).catch(() => {})
  }
}

/** Resolves when the gateway or the signal has ended the connection. */
async function downloadOnce(link: string, how: SlowClient, signal: AbortSignal): Promise<void> {
  const { hostname, port, pathname, search } = new URL(link)
  let isFirst = true
  const socket = connect({
    host: hostname,
    port: Number(port),
    // Reads at most one buffer, and then nothing until the connection is resumed.
    onread: {
      buffer: Buffer.alloc(TRICKLE_BYTES),
      callback: (length, buffer) => {
        // A refusal ends the attempt.
        if (isFirst && !Buffer.from(buffer.buffer, 0, length).toString('latin1').startsWith('HTTP/1.1 200')) socket.destroy()
        isFirst = false
        return false
      },
    },
  })
  const end = () => void socket.destroy()
  signal.addEventListener('abort', end)
  const reading = how === 'trickle' ? setInterval(() => socket.resume(), TRICKLE_MILLISECONDS) : undefined
  // An empty line before the next request is valid. It fails after the gateway has closed the connection, which a client that does not read would not notice.
  const writing = setInterval(() => socket.write('\r\n'), RETRY_MILLISECONDS)
  socket.on('error', () => {})
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
  await new Promise((resolve) => socket.once('close', resolve))
  clearInterval(reading)
  clearInterval(writing)
  signal.removeEventListener('abort', end)
}
