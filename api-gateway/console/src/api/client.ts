import type { components } from '../../../client/src/generated/api.ts'
import { RequestError } from './request-error.ts'

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
  const data = isJson ? await response.json() : undefined
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

/** URL of the service for commands and code. */
export const serviceUrl = (): string => new URL('.', document.baseURI).href.replace(/\/$/, '')
