import { type TintypeErrorFields, toFailureMessage, toMessage } from '../../../client/src/common/errors.ts'
import { toPeopleMessage } from '../../../client/src/common/people-remedies.ts'
import type { components } from '../../../client/src/generated/api.ts'

// Calls of the public REST API. The session's cookie authenticates them, together with a header that pages of other origins cannot send.

export type Schemas = components['schemas']
export type ApiKey = Schemas['ApiKey']
export type Webhook = Schemas['Webhook']
export type Delivery = Schemas['Delivery']

/** For whom a session acts. */
export interface Identity {
  account: string
  key: { id: string; name: string }
}

export interface Session extends Identity {
  key: Identity['key'] & { scopes: readonly string[] }
}

export interface ApiResponse<T> {
  status: number
  headers: Headers
  data: T
}

interface CallOptions {
  method?: string
  body?: unknown
  signal?: AbortSignal | undefined
}

type Listener = () => void
let whenSessionEnds: Listener = () => {}

/** Calls the listener when a response says that the session has ended. */
export const onSessionEnd = (listener: Listener): void => {
  whenSessionEnds = listener
}

/**
 * Sends a request. `path` is relative to the console, so that it also works below a prefix of a proxy.
 * @throws RequestError
 */
export async function call<T>(path: string, { method = 'GET', body, signal }: CallOptions = {}): Promise<ApiResponse<T>> {
  const headers: Record<string, string> = { 'x-tintype-console': '1', accept: 'application/json' }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const request = { method, headers, credentials: 'same-origin' as const, signal: signal ?? null }
  const response = await fetch(path, body === undefined ? request : { ...request, body: JSON.stringify(body) }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause
    throw new RequestError(0, { code: 'CONNECTION', message: 'The service does not respond. Check your connection.' })
  })
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  const data = isJson ? ((await response.json()) as { error?: Record<string, unknown> }) : undefined
  if (response.ok) return { status: response.status, headers: response.headers, data: data as T }
  // A refused sign-in does not end the session that the browser may have.
  if (response.status === 401 && path.startsWith('api/')) whenSessionEnds()
  throw new RequestError(response.status, data?.error ?? {}, Number(response.headers.get('retry-after')) || undefined)
}

/** A request below `/api/v1`. @throws RequestError */
export const api = <T>(path: string, options?: CallOptions): Promise<ApiResponse<T>> => call(`api/v1${path}`, options)

/** Session of the browser, or undefined if there is none. @throws RequestError */
export const readSession = async (): Promise<Session | undefined> =>
  (await call<{ data: Session | null }>('console/session')).data.data ?? undefined

/** Begins a session. @throws RequestError */
export const signIn = async (credentials: { api_key: string } | { code: string }): Promise<Session> =>
  (await call<{ data: Session }>('console/session', { method: 'POST', body: credentials })).data.data

/** For whom a sign-in link acts. The link stays unused. @throws RequestError */
export const describeCode = async (code: string): Promise<Identity> =>
  (await call<{ data: Identity }>('console/codes/describe', { method: 'POST', body: { code } })).data.data

export const signOut = (): Promise<unknown> => call('console/session', { method: 'DELETE' })

/** True if the session's key has a scope. `*` contains all but those of administrators. */
export const hasScope = ({ key: { scopes } }: Session, scope: string): boolean =>
  scopes.includes(scope) || (scopes.includes('*') && !scope.startsWith('admin:'))

// Screenshots and videos have the same records and requests at different paths.

export type Screenshot = components['schemas']['Screenshot']
export type Video = components['schemas']['Video']

/** A record of either kind. */
export type Capture = Screenshot | Video

/** Path of a kind of captures in the API and in the console. */
export type Collection = 'screenshots' | 'videos'

export const isVideo = (capture: Capture): capture is Video => 'duration_ms' in capture

export const collectionOf = (capture: Capture): Collection => (isVideo(capture) ? 'videos' : 'screenshots')

/** Names of the kinds in texts. */
export const NOUNS: Readonly<Record<Collection, { one: string; many: string }>> = {
  screenshots: { one: 'screenshot', many: 'screenshots' },
  videos: { one: 'video', many: 'videos' },
}

/** Titles of the kinds. */
export const TITLES: Readonly<Record<Collection, string>> = { screenshots: 'Screenshots', videos: 'Videos' }

/** URL of a record in the API. */
export const recordPath = (collection: Collection, id: string): string => `/${collection}/${encodeURIComponent(id)}`

/** One problem of a request, as the API reports it. */
export type Problem = components['schemas']['Problem']

/** The form shows the names of options, so `options.delay` is `delay`. */
const toFieldNames = (message: string): string => message.replaceAll(/\boptions\.(?=[a-z])/g, '')

/** Why a capture failed, and what to do, with the names of the form. */
export const describeFailure = (error: { code: string; message: string }): string => toFieldNames(toFailureMessage(error))

const toFieldProblem = ({ path, message, ...problem }: Problem): Problem => ({
  ...problem,
  path: path.replace(/^options\./, ''),
  message: toFieldNames(message),
})

/** What is wrong and what to do, as other clients say it. Several problems are listed below the message. */
function toText(
  code: string,
  message: unknown,
  problems: readonly Problem[],
  facts: { details: unknown; retryAfterSeconds?: number | undefined },
): string {
  if (typeof message !== 'string') return 'The request failed.'
  if (problems.length > 1) return message
  return toPeopleMessage(toMessage(code, message, problems), code, facts as TintypeErrorFields)
}

/** An error response of the API, or a failed connection. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  readonly code: string
  readonly problems: readonly Problem[]
  /** For administrators. */
  readonly requestId: string | undefined

  /** @param retryAfterSeconds of the header Retry-After */
  constructor(status: number, { code, message, details, request_id }: Record<string, unknown>, retryAfterSeconds?: number) {
    const problems = Array.isArray(details) ? (details as Problem[]).map(toFieldProblem) : []
    super(toText(String(code), message, problems, { details, retryAfterSeconds }))
    this.status = status
    this.code = typeof code === 'string' ? code : 'UNKNOWN'
    this.problems = problems
    this.requestId = typeof request_id === 'string' ? request_id : undefined
  }
}

/** True if no response arrived. The same request may succeed later. */
export const isConnectionError = (error: unknown): boolean => error instanceof RequestError && error.status === 0
