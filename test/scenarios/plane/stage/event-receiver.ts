import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { createReceiverCertificate } from '../../../support/servers/https-receiver.ts'

/** What a receiver does with posts. */
type ReceiverState = 'works' | 'refuses connections' | 'hangs' | 'returns 503'

/** What a receiver got of one event. */
export interface ReceivedEvent {
  /** Id of its screenshot. */
  screenshot: string
  /** Posts, whatever the response. Refused connections are not seen. */
  posts: number
  /** Epoch milliseconds of the posts that got a 200. */
  accepted: number[]
}

/** A webhook endpoint on loopback that can fail. */
export type EventReceiver = Awaited<ReturnType<typeof startOne>>

const HOST = '127.0.0.2'

/** Starts receivers that work, with certificates of one authority. @param directory of the certificates; the caller removes it */
export async function startEventReceivers(directory: string, count: number): Promise<EventReceiver[]> {
  const { certificate, key, ca } = await createReceiverCertificate(directory, [`IP:${HOST}`])
  const tls = { cert: await readFile(certificate), key: await readFile(key) }
  return Promise.all(Array.from({ length: count }, () => startOne(tls, ca)))
}

async function startOne(tls: { cert: Buffer; key: Buffer }, ca: string) {
  /** By event id. */
  const events = new Map<string, ReceivedEvent>()
  let state: ReceiverState = 'works'
  const server = createServer(tls, async (request, response) => {
    const { id, data } = (await json(request)) as { id: string; data: { screenshot: { id: string } } }
    const event = events.get(id) ?? { screenshot: data.screenshot.id, posts: 0, accepted: [] }
    events.set(id, event)
    event.posts += 1
    if (state === 'hangs') return
    if (state === 'works') event.accepted.push(Date.now())
    response.writeHead(state === 'works' ? 200 : 503).end()
  })
  const listen = (port: number) => new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, HOST, resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const close = async () => {
    const closing = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closing
  }
  const become = async (next: ReceiverState) => {
    state = next
    if (next === 'refuses connections') await close()
    else if (!server.listening) await listen(port)
  }
  return { url: `https://${HOST}:${port}`, ca, events, become, close: async () => void (server.listening && (await close())) }
}
