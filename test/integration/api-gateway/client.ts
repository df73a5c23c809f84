import { eventually } from '../../support/eventually.ts'

/** An answer, its body parsed when it is JSON. */
export interface ApiResponse {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  body: any
}

export interface Call {
  method?: string
  /** Text goes as it is, all else as JSON. */
  body?: unknown
  key?: string | undefined
  headers?: Record<string, string>
}

/** Calls a gateway as a client would; redirects are not followed. */
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

/** As `call`, and again for as long as the gateway says that it is too busy, as a client does who has time. */
export const callPatiently = (url: string, options: Call = {}): Promise<ApiResponse> =>
  eventually('the gateway has time', async () => {
    const response = await call(url, options)
    return response.status !== 503 && response
  })
