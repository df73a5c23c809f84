import { eventually } from '../../support/eventually.ts'

/** A response, with a parsed body if it is JSON. */
export interface ApiResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of any shape
  body: any
}

export interface Call {
  method?: string
  /** Strings are sent unchanged, everything else as JSON. */
  body?: unknown
  key?: string | undefined
  headers?: Record<string, string>
}

/** Calls a gateway like a client. Redirects are not followed. */
export async function call(url: string, { method = 'GET', body, key, headers = {} }: Call = {}): Promise<ApiResponse> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && method !== 'HEAD'
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: response.headers, body: isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : bytes }
}

/** Like `call`, but retries while the gateway reports that it is overloaded, as a patient client does. */
export const callPatiently = (url: string, options: Call = {}): Promise<ApiResponse> =>
  eventually('the gateway is no longer overloaded', async () => {
    const response = await call(url, options)
    return response.status !== 503 && response
  })
