import { Transport } from '../../../api-gateway/client/src/http/transport.ts'
import type { Screenshot } from '../../../api-gateway/client/src/index.ts'

// A service behind a fake fetch, and a clock that moves only when the client sleeps.

export interface Sent {
  method: string
  url: string
  headers: Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  body: any
  redirect: string | undefined
  signal: AbortSignal
}

/** A response, an error of the network, or a function of the request that returns one. */
export type Reply = Response | Error | ((sent: Sent) => Response | Promise<Response>)

export const json = (body: unknown, { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {}): Response =>
  new Response(body === undefined ? null : JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

export const failure = (status: number, code: string, headers: Record<string, string> = {}, details?: unknown): Response =>
  json({ success: false, error: { code, message: `it is ${code}`, details, request_id: 'body-id' } }, { status, headers })

export const hangUp = (): Error => new TypeError('fetch failed', { cause: new Error('socket hang up') })

const base = { started_at: null, completed_at: null, file_size_bytes: null, error: null, artifacts: [], download_url: null }
export const aRecord = (fields: Partial<Screenshot> = {}): Screenshot =>
  ({ ...base, id: 'scr_1', url: 'https://example.com/', status: 'pending', ...fields }) as Screenshot
export const aCompleted = (fields: Partial<Screenshot> = {}): Screenshot =>
  aRecord({ status: 'completed', download_url: 'https://files.example.com/scr_1.png?signature=x', ...fields })

/** A fetch that returns the replies in order, and records the requests. The last reply repeats. */
export function fakeFetch(...replies: Reply[]): { fetch: typeof fetch; sent: Sent[] } {
  const sent: Sent[] = []
  const fake = async (input: unknown, init: RequestInit = {}): Promise<Response> => {
    const { method = 'GET', headers, body, redirect, signal } = init
    const request = {
      method,
      url: String(input),
      headers: Object.fromEntries(new Headers(headers)),
      body: typeof body === 'string' ? JSON.parse(body) : undefined,
      redirect,
      signal: signal!,
    }
    sent.push(request)
    signal?.throwIfAborted()
    const reply = replies[Math.min(sent.length, replies.length) - 1]
    if (reply instanceof Error) throw reply
    if (typeof reply === 'function') return reply(request)
    if (reply === undefined) throw new Error('no reply')
    return reply.clone()
  }
  return { fetch: fake as typeof fetch, sent }
}

/** A transport over a fake fetch. `delays` are the times for which it slept, in milliseconds; the clock adds them up. */
export function aTransport(replies: Reply[], { retries = 5, timeout = 30_000, apiKey = 'tt_key' as string | null } = {}) {
  const { fetch, sent } = fakeFetch(...replies)
  const delays: number[] = []
  const clock = { now: 0 }
  const timing = {
    sleep: async (milliseconds: number, signal: AbortSignal | undefined) => {
      signal?.throwIfAborted()
      delays.push(milliseconds)
      clock.now += milliseconds
    },
    random: () => 0.5,
    now: () => clock.now,
  }
  const transport = new Transport({
    apiUrl: 'https://tintype.example.com/api/v1',
    apiKey: apiKey ?? undefined,
    fetch,
    timeout,
    retries,
    timing,
  })
  return { transport, sent, delays, clock }
}

/** A reply that waits until the request is canceled. */
export const never = ({ signal }: Sent): Promise<Response> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
