import http, { type IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

// Requests of clients. They are sent by this process, because they cost little at the rates of the scenarios.

/** A response. Status 0: there was none. */
export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  readonly text: string
  /** When it ended (`performance.now()`). */
  at: number
}

export interface Request {
  method?: string
  /** API key. Signed links need none. */
  key?: string
  body?: unknown
  headers?: Readonly<Record<string, string>>
  agent?: http.Agent
  timeoutMilliseconds?: number
}

const TIMEOUT_MILLISECONDS = 30_000
const shared = new http.Agent({ keepAlive: true, maxSockets: 256 })

/** One request on a keep-alive connection. */
export function send(
  url: string,
  { method = 'GET', key, body, headers: given, agent = shared, timeoutMilliseconds: timeout = TIMEOUT_MILLISECONDS }: Request = {},
): Promise<Reply> {
  const content = body === undefined ? undefined : JSON.stringify(body)
  const length = content === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }
  const headers = { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...length, ...given }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const end = (status: number, received: IncomingHttpHeaders) => {
      const bytes = Buffer.concat(chunks)
      resolve({
        status,
        headers: received,
        bytes,
        at: performance.now(),
        get text() {
          return bytes.toString()
        },
      })
    }
    const request = http.request(url, { method, agent, headers, timeout }, (response) => {
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => end(response.statusCode ?? 0, response.headers))
      response.on('error', () => end(0, {}))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => end(0, {}))
    request.end(content)
  })
}

/** The JSON of a response that must have this status. @throws with the response otherwise */
export function bodyOf<T>({ status, text }: Reply, wanted: number): T {
  if (status !== wanted) throw new Error(`the response was ${status} instead of ${wanted}: ${text.slice(0, 400)}`)
  return JSON.parse(text) as T
}

/** Requests by concurrent clients: `count` requests, or as many as possible in `seconds`. */
export interface Load extends Request {
  atOnce: number
  count?: number
  seconds?: number
  /** Status of every response. */
  status: number
}

/**
 * Sends requests to these URLs in rotation. Each client waits for its response before the next request. Returns the milliseconds of each request, and from
 * the first to the last. @throws at another status
 */
export async function sendAtOnce(
  urls: readonly string[],
  { atOnce, count = Number.POSITIVE_INFINITY, seconds = Number.POSITIVE_INFINITY, status, ...request }: Load,
) {
  const milliseconds: number[] = []
  const started = performance.now()
  let next = 0
  const client = async (): Promise<void> => {
    while (next < count && performance.now() - started <= seconds * 1_000) {
      const sent = performance.now()
      const url = urls[next++ % urls.length] ?? ''
      const reply = await send(url, request)
      if (reply.status !== status) throw new Error(`${request.method ?? 'GET'} ${url}: ${reply.status} instead of ${status}: ${reply.text}`)
      milliseconds.push(reply.at - sent)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, client))
  return { milliseconds, totalMilliseconds: performance.now() - started }
}

export type LoadTimes = Awaited<ReturnType<typeof sendAtOnce>>

/** Requests per second. */
export const rateOf = ({ milliseconds, totalMilliseconds }: LoadTimes): number => milliseconds.length / (totalMilliseconds / 1_000)

/** A Screenshot that a gateway has accepted. */
export interface Accepted {
  id: string
  /** The account's key. */
  key: string
}

/** A steady load of screenshots. Requests rotate over keys and gateways. */
export interface RequestLoad {
  urls: readonly string[]
  keys: readonly string[]
  perSecond: number
  seconds: number
  /** Screenshots per request (default 1). */
  batch?: number
  signal?: AbortSignal
  /** Called for each response that did not accept all screenshots of the request, with status and message. */
  onRefused?: (what: string) => void
}

const TICK_MILLISECONDS = 10
const ACCEPTED = 202

/**
 * Sends requests at a steady rate without waiting for responses, and then waits for the last response. Returns the response times of accepted requests in
 * milliseconds, and counts of other responses by status and message.
 */
export async function sendSteadily({ urls, keys, perSecond, seconds, batch = 1, signal, onRefused }: RequestLoad) {
  const asked = { accepted: [] as Accepted[], milliseconds: [] as number[], others: {} as Record<string, number> }
  const open = new Set<Promise<void>>()
  const started = performance.now()
  const total = Math.round((perSecond * seconds) / batch)
  const ask = async (n: number) => {
    const key = keys[n % keys.length] ?? ''
    const base = `${urls[n % urls.length]}/v1/screenshots`
    const pages = Array.from({ length: batch }, (_, i) => `https://example.com/a/page?of=some&n=${n * batch + i}`)
    const sent = performance.now()
    const { status, text, at } =
      batch === 1
        ? await send(base, { method: 'POST', key, body: { url: pages[0] } })
        : await send(`${base}/batch`, { method: 'POST', key, body: { urls: pages } })
    const ids = status === ACCEPTED ? idsOf(text) : []
    if (ids.length < batch) {
      const what = status === 0 ? 'no answer' : `${status} ${messageOf(text)}`
      asked.others[what] = (asked.others[what] ?? 0) + batch - ids.length
      onRefused?.(what)
    }
    if (ids.length === 0) return
    asked.milliseconds.push(at - sent)
    asked.accepted.push(...ids.map((id) => ({ id, key })))
  }
  for (let n = 0; n < total && !signal?.aborted; ) {
    const due = Math.min(total, Math.floor((((performance.now() - started) / 1_000) * perSecond) / batch) + 1)
    for (; n < due; n++) {
      const one = ask(n).finally(() => open.delete(one))
      open.add(one)
    }
    await sleep(TICK_MILLISECONDS)
  }
  await Promise.all(open)
  return asked
}

export type RequestResults = Awaited<ReturnType<typeof sendSteadily>>

/** Ids of one creation, or of a batch as far as it was created. */
function idsOf(text: string): string[] {
  const created = JSON.parse(text) as { id?: string; screenshots?: { id: string; status: string }[] }
  if (created.id !== undefined) return [created.id]
  return (created.screenshots ?? []).filter(({ status }) => status === 'pending').map(({ id }) => id)
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message
  } catch {
    return text.slice(0, 100)
  }
}

/** A capture of an account that takes one each second. */
export interface SecondCapture {
  /** Empty if the creation was refused. */
  id: string
  /** Epoch milliseconds of the request. */
  at: number
  /** Until the client has the result. */
  milliseconds: number
  /** Undefined: completed. */
  problem: string | undefined
  /** Milliseconds from its creation to its start, and from its start to its end, if it completed. */
  parts?: { queued: number; captured: number }
}

/** Captures a page each second, whatever the earlier captures do, until the returned function is called. */
export function captureEachSecond(url: string, key: string, body: object): () => Promise<SecondCapture[]> {
  const captures: Promise<SecondCapture>[] = []
  const timer = setInterval(() => captures.push(captureOnce(`${url}/v1/screenshots`, key, body)), 1_000)
  return () => {
    clearInterval(timer)
    return Promise.all(captures)
  }
}

type Times = Record<'created_at' | 'started_at' | 'completed_at', string>
const PATIENCE_MILLISECONDS = 120_000

async function captureOnce(url: string, key: string, body: object): Promise<SecondCapture> {
  const [at, started] = [Date.now(), performance.now()]
  const request = { key, timeoutMilliseconds: PATIENCE_MILLISECONDS }
  const created = await send(url, { ...request, method: 'POST', body })
  const [id = ''] = created.status === ACCEPTED ? idsOf(created.text) : []
  const ended = (problem?: string): SecondCapture => ({ id, at, milliseconds: performance.now() - started, problem })
  if (id === '') return ended(`HTTP ${created.status} ${created.text.slice(0, 100)}`)
  for (;;) {
    const { status, text } = await send(`${url}/${id}?wait=25`, request)
    if (status !== 200) return ended(`HTTP ${status} ${text.slice(0, 100)}`)
    const record = JSON.parse(text) as Times & { status: string; error?: { code: string } }
    if (record.status === 'failed') return ended(record.error?.code ?? 'failed')
    if (record.status !== 'completed') continue
    const [creation, start, end] = [record.created_at, record.started_at, record.completed_at].map((time) => Date.parse(time))
    return { ...ended(), parts: { queued: start! - creation!, captured: end! - start! } }
  }
}
