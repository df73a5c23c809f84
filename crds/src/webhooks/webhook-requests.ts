import { Annotation, REQUEST_PREFIX } from '../identifiers/names.ts'
import { MAX_REQUEST_TEXT, MAX_REQUESTS, type PostResponse, type Webhook } from '../kinds/webhook.ts'

// Only the operator posts to endpoints. The gateway, or a person, requests a post with an annotation on the Webhook. The response is in its status:
//
//   request.tintype.dev/<nonce>: "test 2026-11-21T10:00:00.000Z"                    → status.responses.<nonce>
//   request.tintype.dev/<nonce>: "redeliver dlv_01k… 2026-11-21T10:00:00.000Z"      → status.responses.<nonce>
//   request.tintype.dev/<nonce>: "redeliver-missed 2026-11-21T10:00:00.000Z"        → status.responses.<nonce>
//   tintype.dev/test-requested:  any text, by a person; a new text is a new request → status.lastTest
//
// Each request has its own annotation, so that requesters do not conflict. The requester removes the annotation, and the operator then
// removes the response.

/** Maximum open requests of one Webhook. */
export const MAX_OPEN_REQUESTS = 16

/** The gateway waits at most this long for a test. */
const TEST_MILLISECONDS = 60_000
/** A redelivery waits at most this long for an operator. */
const REDELIVERY_MILLISECONDS = 24 * 3_600_000

/** A post that a program requests. */
export type ProgramRequest = RequestedPost & {
  /** Key of the response in status.responses. */
  nonce: string
  at: Date
}

/** What a program can request. */
export type RequestedPost = { do: 'test' } | { do: 'redeliver'; delivery: string } | { do: 'redeliverMissed' }

/** A requested post. */
export type PostRequest = ProgramRequest | { do: 'manualTest'; nonce: typeof BY_HAND; text: string }

/** The nonce of the single request that a person can make at a time. */
export const BY_HAND = 'by-hand'

const NONCE = /^[0-9a-f]{20}$/
const VALUE = /^(?:test|(redeliver-missed)|redeliver (dlv_[0-7][0-9a-hjkmnp-tv-z]{25})) (\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)$/

/** The annotation of a request by a program. */
export function toRequestAnnotation(request: ProgramRequest): Record<string, string> {
  const words = request.do === 'redeliver' ? ['redeliver', request.delivery] : [request.do === 'test' ? 'test' : 'redeliver-missed']
  return { [REQUEST_PREFIX + request.nonce]: [...words, request.at.toISOString()].join(' ') }
}

/** All requests of a Webhook, with or without a response. Ignores annotations that Tintype cannot have written. */
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
  const [isRight, missed, delivery, instantText = ''] = VALUE.exec(value) ?? []
  const at = new Date(instantText)
  if (!isRight || !NONCE.test(nonce) || Number.isNaN(at.getTime())) return undefined
  if (missed !== undefined) return { do: 'redeliverMissed', nonce, at }
  return delivery === undefined ? { do: 'test', nonce, at } : { do: 'redeliver', nonce, at, delivery }
}

/** The response to a request, once there is one. */
export function findResponse({ status }: Pick<Webhook, 'status'>, request: PostRequest): PostResponse | undefined {
  if (request.do !== 'manualTest') return status?.responses?.[request.nonce]
  return status?.lastTest?.request === request.text ? status.lastTest : undefined
}

/** True if a request has expired. */
export function isTooLate(request: PostRequest, now: Date): boolean {
  if (request.do === 'manualTest') return false
  return now.getTime() - request.at.getTime() > (request.do === 'test' ? TEST_MILLISECONDS : REDELIVERY_MILLISECONDS)
}

/** Requests that need a post. */
export const findOpenRequests = (webhook: Webhook, now: Date): PostRequest[] =>
  findRequests(webhook).filter((request) => !isTooLate(request, now) && findResponse(webhook, request) === undefined)

/** Annotations of ended requests, with null as value, which removes them in a merge patch. */
export function toDeletions(webhook: Webhook, now: Date): Record<string, null> {
  const over = findRequests(webhook).filter((request) => isTooLate(request, now) || findResponse(webhook, request) !== undefined)
  return Object.fromEntries(over.flatMap(({ do: what, nonce }) => (what === 'manualTest' ? [] : [[REQUEST_PREFIX + nonce, null]])))
}

/** Part of a merge patch of the status: the new responses, and null for responses whose requests have ended. */
export function toResponsePatch(webhook: Webhook, responses: readonly { request: PostRequest; response: PostResponse }[]) {
  const requests = findRequests(webhook)
  const asked = new Set(requests.map(({ nonce }) => nonce))
  const obsolete = Object.keys(webhook.status?.responses ?? {}).filter((nonce) => !asked.has(nonce))
  const isReplaced = ({ text }: { text: string }) => requests.some((request) => request.do === 'manualTest' && request.text !== text)
  // A person has asked for another test since: its response counts.
  const manual = responses.find(({ request }) => request.do === 'manualTest' && !isReplaced(request))
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
