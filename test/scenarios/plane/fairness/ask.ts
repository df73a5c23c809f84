import { setTimeout as sleep } from 'node:timers/promises'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import { send } from '../stage/requests.ts'

// Requests of clients.

/** An account with a key. */
export interface Customer {
  name: string
  key: string
}

/** Response of a gateway. */
export interface Reply {
  status: number
  retryAfter: string | undefined
  body: {
    id?: string
    screenshots?: { id: string }[]
    created_at?: string
    started_at?: string
    estimated_time?: string
    error?: { code: string }
  }
}

/** One POST. */
export async function post(url: string, { key }: Customer, body: unknown): Promise<Reply> {
  const { status, headers, text } = await send(url, { method: 'POST', key, body })
  return { status, retryAfter: headers['retry-after'], body: JSON.parse(text || '{}') as Reply['body'] }
}

const pageOf = ({ name }: Customer, n: number) => `https://example.com/${name}/${n}`

/** Creates one screenshot without waiting. */
export const askOne = (gatewayUrl: string, customer: Customer, n = 0): Promise<Reply> =>
  post(`${gatewayUrl}/v1/screenshots`, customer, { url: pageOf(customer, n) })

/** Creates a batch. */
export const askBatch = (gatewayUrl: string, customer: Customer, count: number): Promise<Reply> =>
  post(`${gatewayUrl}/v1/screenshots/batch`, customer, { urls: Array.from({ length: count }, (_, n) => pageOf(customer, n)) })

const MAX_TRIES = 10
const DEFAULT_SECONDS = 2

/** Retries like clients when the service is briefly unavailable, which happens on a busy machine. */
export async function askPatiently(ask: () => Promise<Reply>): Promise<Reply> {
  for (let tries = 1; ; tries++) {
    const reply = await ask()
    if (reply.body.error?.code !== 'SERVICE_UNAVAILABLE' || tries === MAX_TRIES) return reply
    await sleep(Number(reply.retryAfter ?? DEFAULT_SECONDS) * 1_000)
  }
}

/** Creates batches that must be accepted. Resolves to the names of their objects. */
export async function askBatches(gatewayUrl: string, customer: Customer, count: number, size = 100): Promise<string[]> {
  const names: string[] = []
  for (let n = 0; n < count; n++) {
    const { status, body } = await askPatiently(() => askBatch(gatewayUrl, customer, size))
    if (status !== 202) throw new Error(`a batch was answered with ${status} ${body.error?.code}`)
    names.push(...(body.screenshots ?? []).map(({ id }) => toObjectName(id)))
  }
  return names
}
