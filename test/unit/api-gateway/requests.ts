import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyInstance, InjectOptions } from 'fastify'
import t from 'tap'
import { ApiError } from '../../../api-gateway/src/common/errors.ts'

/** A response of the API. `body` is parsed if it is JSON, and undefined if it is empty. */
export interface Response {
  status: number
  headers: OutgoingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of any shape
  body: any
}

/** A path below /v1, with its query. `more` adds headers, or replaces those of the key. */
export type Call = (method: string, path: string, body?: unknown, more?: Record<string, string>) => Promise<Response>

/** Calls the API of a gateway with these headers. */
export const callerOf =
  (app: FastifyInstance, headers: Record<string, string>): Call =>
  async (method, path, body, more = {}) => {
    const request = { method, url: `/v1${path}`, headers: { ...headers, ...more }, ...(body === undefined ? {} : { payload: body }) }
    const response = await app.inject(request as InjectOptions)
    const isJson = String(response.headers['content-type']).startsWith('application/json')
    const text = response.body === '' ? undefined : response.body
    return { status: response.statusCode, headers: response.headers, body: isJson && text !== undefined ? response.json() : text }
  }

interface Problem {
  path: string
  code: string
  message: string
}

interface Refusing {
  code: string
  message: string
  details: Problem[]
}

/** The error with which a parser refuses its input. Undefined: it accepts it. */
export function refusalOf(parse: () => unknown): Refusing | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    if (error instanceof ApiError) return error as unknown as Refusing
    throw error
  }
}

/** The code of a refusal, and its problems as `path code`. */
export function codesOf(parse: () => unknown): string[] {
  const refusal = refusalOf(parse)
  return refusal ? [refusal.code, ...refusal.details.map(({ path, code }) => `${path} ${code}`)] : []
}

/** The problems that a response lists, as `path code`. */
export const problemsIn = ({ body }: Response): string[] => (body.error.details as Problem[]).map(({ path, code }) => `${path} ${code}`)

/** The ids of the records in a list, or of another field. */
export const listed = ({ body }: Response, field = 'id'): string[] => body.data.map((record: Record<string, string>) => record[field])

/** A body that a request refuses with 400, and its problems as `path code`, in any order. */
export type Refusal = readonly [name: string, body: unknown, ...problems: string[]]

/** One test for each refused body. `stored` counts what such requests create: nothing. */
export function testRefusals(title: string, rows: readonly Refusal[], send: (body: unknown) => Promise<Response>, stored = () => 0): void {
  for (const [name, body, ...problems] of rows) {
    t.test(`${title} refuses ${name} with the reason`, async (t) => {
      const before = stored()
      const response = await send(body)
      t.equal(response.status, 400)
      t.strictSame(problemsIn(response).sort(), problems.sort())
      t.equal(stored(), before)
    })
  }
}
