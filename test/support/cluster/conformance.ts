import type { Test } from 'tap'
import { eventually } from '../eventually.ts'
import { type Answer, call, type RecordBody } from './api-client.ts'

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
export async function createAndForget<T = RecordBody>(t: Test, body: object, key?: string): Promise<Answer<T>> {
  const caller = key === undefined ? {} : { key }
  const answer = await call<T>('/api/v1/screenshots', { method: 'POST', body, ...caller })
  const { id } = answer.body as { id?: string }
  if (id !== undefined) t.teardown(() => call(`/api/v1/screenshots/${id}`, { method: 'DELETE', ...caller }))
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
export async function createWebhook<T = { message: string; data: WebhookBody }>(
  t: Test,
  changes: object = {},
  key?: string,
): Promise<Answer<T>> {
  const caller = key === undefined ? {} : { key }
  const body = { name: `Hook ${++webhooks}`, url: 'https://hooks.example.com/in', events: ['screenshot.completed'], ...changes }
  const answer = await call<T>('/api/v1/webhooks', { method: 'POST', body, ...caller })
  const id = (answer.body as { data?: { id?: string } }).data?.id
  if (id !== undefined) t.teardown(() => call(`/api/v1/webhooks/${id}`, { method: 'DELETE', ...caller }))
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
