import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

// Clients that request screenshots. They run in this process, because they cost little at the rates of a soak run.

/** A Screenshot that a gateway has accepted. */
export interface Accepted {
  id: string
  /** The account's key. */
  key: string
}

/** Results of many requests. */
export interface RequestResults {
  accepted: Accepted[]
  /** Response times of accepted requests in milliseconds. */
  milliseconds: number[]
  /** Counts of other responses, by status and message. */
  others: Record<string, number>
}

/** Load: number of requests, accounts and gateways. Requests rotate over keys and gateways. */
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

interface Answer {
  status: number
  text: string
}

const TICK_MILLISECONDS = 10
const TIMEOUT_MILLISECONDS = 30_000
const ACCEPTED = 202
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 })

/** One request on a keep-alive connection. Status 0: no response. */
export function send(url: string, { method = 'GET', key, body }: { method?: string; key: string; body?: unknown }): Promise<Answer> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
  }
  return new Promise((resolve) => {
    const request = http.request(url, { method, agent, headers, timeout: TIMEOUT_MILLISECONDS }, (response) => {
      let answer = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        answer += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: answer }))
      response.on('error', () => resolve({ status: 0, text: '' }))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve({ status: 0, text: '' }))
    request.end(text)
  })
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message
  } catch {
    return text.slice(0, 100)
  }
}

/** Sends requests at a steady rate without waiting for responses, and then waits for the last response. */
export async function sendSteadily({ urls, keys, perSecond, seconds, batch = 1, signal, onRefused }: RequestLoad): Promise<RequestResults> {
  const asked: RequestResults = { accepted: [], milliseconds: [], others: {} }
  const open = new Set<Promise<void>>()
  const started = performance.now()
  const total = Math.round((perSecond * seconds) / batch)
  const ask = async (n: number) => {
    const key = keys[n % keys.length] ?? ''
    const base = `${urls[n % urls.length]}/v1/screenshots`
    const addresses = Array.from({ length: batch }, (_, i) => `https://example.com/a/page?of=some&n=${n * batch + i}`)
    const sent = performance.now()
    const { status, text } =
      batch === 1
        ? await send(base, { method: 'POST', key, body: { url: addresses[0] } })
        : await send(`${base}/batch`, { method: 'POST', key, body: { urls: addresses } })
    const ids = status === ACCEPTED ? idsOf(text) : []
    if (ids.length < batch) {
      const what = status === 0 ? 'no answer' : `${status} ${messageOf(text)}`
      asked.others[what] = (asked.others[what] ?? 0) + batch - ids.length
      onRefused?.(what)
    }
    if (ids.length === 0) return
    asked.milliseconds.push(performance.now() - sent)
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

/** Time of one creation, or of a batch as far as it was created. */
function idsOf(text: string): string[] {
  const created = JSON.parse(text) as { id?: string; screenshots?: { id: string; status: string }[] }
  if (created.id !== undefined) return [created.id]
  return (created.screenshots ?? []).filter(({ status }) => status === 'pending').map(({ id }) => id)
}
