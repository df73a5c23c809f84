import type { Test } from 'tap'
import { eventually } from '../eventually.ts'
import { type Answer, call } from './api-client.ts'

// Helpers of the conformance tests.

/** ISO 8601 in UTC with milliseconds. */
export const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
/** `<min>-<max>s` */
export const RANGE = /^\d+-\d+s$/

/** The format of all errors. */
export interface ErrorBody {
  success: boolean
  error: { code: string; message: string; details?: { path: string; code: string; message: string }[] }
}

/** Calls the API: a path below /v1, with its query. */
// biome-ignore lint/suspicious/noExplicitAny: tests read bodies of any shape
type Rest = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer<any>>

/** Calls of one key. Null: without a key. */
export const restOf =
  (key: string | null | undefined): Rest =>
  (method, path, body, headers = {}) =>
    call(`/v1${path}`, { method, body, headers, ...(key === undefined ? {} : { key }) })

/** Calls of the first key of the cluster. */
export const rest = restOf(undefined)

/** A field of a response: the sentence about it, its name, and a check of its value. */
export type FieldSentence = readonly [sentence: string, field: string, holds: (value: unknown) => boolean]

export const isString = (value: unknown): value is string => typeof value === 'string'
export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
export const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
export const isInstant = (value: unknown): boolean => isString(value) && INSTANT.test(value)
export const isRange = (value: unknown): boolean => isString(value) && RANGE.test(value)
export const isTextOf = (pattern: RegExp) => (value: unknown) => isString(value) && pattern.test(value)

/** One test for each field of a response. A dot separates nested names. */
export function testFields(t: Test, body: unknown, sentences: readonly FieldSentence[]): void {
  for (const [sentence, field, holds] of sentences) {
    t.test(sentence, async (t) => {
      const value = field.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], body)
      t.ok(holds(value), `${field} is ${JSON.stringify(value)}`)
    })
  }
}

/** Creates a screenshot whose file is not needed. It is deleted with the test. */
export async function createAndForget(t: Test, body: object, key?: string): ReturnType<Rest> {
  const send = restOf(key)
  const answer = await send('POST', '/screenshots', body)
  const { id } = answer.body
  if (id !== undefined) t.teardown(() => send('DELETE', `/screenshots/${id}`))
  return answer
}

/** Lists that are asked for at once, so that each replica answers some of them. */
const LISTS_AT_ONCE = 4

/** Waits until all replicas list exactly these ids. Each replica has its own informer cache, which is up to about a second late. */
export async function untilListed(path: string, ids: readonly string[]): Promise<void> {
  await eventually(`${path} lists ${ids.length} records`, async () => {
    const lists = await Promise.all(Array.from({ length: LISTS_AT_ONCE }, () => call<{ data: { id: string }[] }>(path)))
    return lists.every(({ body }) => body.data.map(({ id }) => id).join() === ids.join())
  })
}

let webhooks = 0

/** Creates a webhook endpoint through the API. It is deleted with the test. */
export async function createWebhook(t: Test, changes: object = {}, key?: string): ReturnType<Rest> {
  const send = restOf(key)
  const body = { name: `Hook ${++webhooks}`, url: 'https://hooks.example.com/in', events: ['screenshot.completed'], ...changes }
  const answer = await send('POST', '/webhooks', body)
  const id = answer.body.data?.id
  if (id !== undefined) t.teardown(() => send('DELETE', `/webhooks/${id}`))
  return answer
}

/** The record of a webhook. */
export interface WebhookBody {
  id: string
  name: string
  url: string
  events: string[]
  is_active: boolean
  [field: string]: unknown
}
