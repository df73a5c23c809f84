import { Annotation, REQUEST_PREFIX } from '../identifiers/names.ts'
import { MAX_REQUEST_TEXT, MAX_REQUESTS, type PostResponse } from '../kinds/post-response.ts'
import type { Webhook } from '../kinds/webhook.ts'

// Only the operator posts. Whoever wants a post asks for it by an annotation on the Webhook and finds the answer in its status:
//
//   request.tintype.dev/<nonce>: "test 2026-11-21T10:00:00.000Z"                    → status.responses.<nonce>
//   request.tintype.dev/<nonce>: "redeliver dlv_01k… 2026-11-21T10:00:00.000Z"      → status.responses.<nonce>
//   tintype.dev/test-requested:  any text, by a person; another text asks again     → status.lastTest
//
// One annotation a request, so that askers never stand in each other's way. The asker takes it away, and the answer goes with it.

/** Requests of one Webhook that may be open before another is refused. */
export const MAX_OPEN_REQUESTS = 16

/** Nobody waits for a test that is older. */
const TEST_MILLISECONDS = 60_000
/** A redelivery waits for an operator this long. */
const REDELIVERY_MILLISECONDS = 24 * 3_600_000

interface Asked {
  /** Name of its answer, unless a person asked. */
  nonce: string
  at: Date
}

/** A post that is asked for. */
export type PostRequest =
  | (Asked & { do: 'test' })
  | (Asked & { do: 'redeliver'; delivery: string })
  | { do: 'manualTest'; nonce: typeof BY_HAND; text: string }

/** Stands for the one request that a person may make at a time. */
export const BY_HAND = 'by-hand'

const NONCE = /^[0-9a-f]{20}$/
const VALUE = /^(?:test|redeliver (dlv_[0-7][0-9a-hjkmnp-tv-z]{25})) (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)$/

/** The annotation by which a program asks. */
export function toRequestAnnotation(request: Exclude<PostRequest, { do: 'manualTest' }>): Record<string, string> {
  const words = request.do === 'test' ? ['test'] : ['redeliver', request.delivery]
  return { [REQUEST_PREFIX + request.nonce]: [...words, request.at.toISOString()].join(' ') }
}

/** All that is asked of a Webhook, answered or not; what nobody of ours can have written is passed over. */
export function findRequests({ metadata: { annotations = {} } }: Pick<Webhook, 'metadata'>): PostRequest[] {
  const text = annotations[Annotation.testRequested]
  const byHand: PostRequest[] = text === undefined ? [] : [{ do: 'manualTest', nonce: BY_HAND, text: text.slice(0, MAX_REQUEST_TEXT) }]
  const asked = Object.entries(annotations).flatMap(([name, value]) => {
    const request = name.startsWith(REQUEST_PREFIX) ? parseRequest(name.slice(REQUEST_PREFIX.length), value) : undefined
    return request ?? []
  })
  return [...byHand, ...asked.slice(0, MAX_REQUESTS)]
}

function parseRequest(nonce: string, value: string): PostRequest | undefined {
  const [isRight, delivery, instantText = ''] = VALUE.exec(value) ?? []
  const at = new Date(instantText)
  if (!isRight || !NONCE.test(nonce) || Number.isNaN(at.getTime())) return undefined
  return delivery === undefined ? { do: 'test', nonce, at } : { do: 'redeliver', nonce, at, delivery }
}

/** The response to a request, once there is one. */
export function findResponse({ status }: Pick<Webhook, 'status'>, request: PostRequest): PostResponse | undefined {
  if (request.do !== 'manualTest') return status?.responses?.[request.nonce]
  return status?.lastTest?.request === request.text ? status.lastTest : undefined
}

/** True when it is too late to do what was asked. */
export function isTooLate(request: PostRequest, now: Date): boolean {
  if (request.do === 'manualTest') return false
  return now.getTime() - request.at.getTime() > (request.do === 'test' ? TEST_MILLISECONDS : REDELIVERY_MILLISECONDS)
}

/** What is still to be done. */
export const findOpenRequests = (webhook: Webhook, now: Date): PostRequest[] =>
  findRequests(webhook).filter((request) => !isTooLate(request, now) && findResponse(webhook, request) === undefined)

/** Annotations that have had their time, each with the null that removes it. */
export function toDeletions(webhook: Webhook, now: Date): Record<string, null> {
  const over = findRequests(webhook).filter((request) => isTooLate(request, now) || findResponse(webhook, request) !== undefined)
  return Object.fromEntries(over.flatMap(({ do: what, nonce }) => (what === 'manualTest' ? [] : [[REQUEST_PREFIX + nonce, null]])))
}

/** Part of a merge patch of the status: these responses, and null for requests that have ended. */
export function toResponsePatch(webhook: Webhook, responses: readonly { request: PostRequest; response: PostResponse }[]) {
  const asked = new Set(findRequests(webhook).map(({ nonce }) => nonce))
  const obsolete = Object.keys(webhook.status?.responses ?? {}).filter((nonce) => !asked.has(nonce))
  const manual = responses.find(({ request }) => request.do === 'manualTest')
  const added = responses.flatMap(({ request: { do: what, nonce }, response }) =>
    what === 'manualTest' ? [] : [[nonce, response] as const],
  )
  const entries = [...obsolete.map((nonce) => [nonce, null] as const), ...added]
  return {
    ...(entries.length > 0 ? { responses: Object.fromEntries(entries) } : {}),
    ...(manual?.request.do === 'manualTest'
      ? { lastTest: { ...manual.response, error: manual.response.error ?? null, request: manual.request.text } }
      : {}),
  }
}
