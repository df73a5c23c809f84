import { createHash, createHmac } from 'node:crypto'

/** Names of an object in a fixed order, so that two spellings of one body are the same request. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, child]) => [name, canonical(child)]))
}

/** What a request asks for: its route and its body, whatever the order of its names. */
export const requestHash = (account: string, route: string, body: unknown): string =>
  // Keyed by the account: nobody can tell from two accounts' hashes that they asked for the same.
  createHmac('sha256', account)
    .update(`${route}\n${JSON.stringify(canonical(body))}`)
    .digest('base64url')

/** Where what is known of an Idempotency-Key lies in the bucket: not the key itself, which may say something about the client's business. */
export const idempotencyKey = (account: string, key: string): string =>
  `idempotency/${account}/${createHash('sha256').update(`${account}\n${key}`).digest('hex')}.json`
