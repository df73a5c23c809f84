import { cluster } from './environment.ts'

/** A record in a response. Tests list the fields that they use. */
export interface RecordBody {
  id: string
  status: 'pending' | 'completed' | 'failed'
  download_url: string | null
  error: { code: string; message: string } | null
  [field: string]: unknown
}

export interface Answer<T = unknown> {
  status: number
  headers: Headers
  body: T
}

export interface Call {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  /** The API key. Null sends none. */
  key?: string | null
}

/** The path of a file from its `download_url`, or an API path, made absolute. */
export const absolute = (path: string): string => new URL(path, cluster.url).href

/** Calls the API as a client would: JSON in, JSON or text out. */
export async function call<T = unknown>(
  path: string,
  { method = 'GET', body, headers = {}, key = cluster.apiKey }: Call = {},
): Promise<Answer<T>> {
  const response = await fetch(absolute(path), {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  const parsed: unknown = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text
  return { status: response.status, headers: response.headers, body: parsed as T }
}

/** Creates a screenshot and polls with `?wait=` until it has finished, as documented. */
export async function capture(url: string, options: Record<string, unknown> = {}, milliseconds = 90_000): Promise<RecordBody> {
  const created = await call<RecordBody>('/api/v1/screenshots', { method: 'POST', body: { url, options } })
  if (created.status !== 202) throw new Error(`create answered ${created.status}: ${JSON.stringify(created.body)}`)
  return finished(created.body.id, milliseconds)
}

/** Waits until a screenshot has finished. */
export const finished = (id: string, milliseconds = 90_000): Promise<RecordBody> => whenFinished(`screenshots/${id}`, milliseconds)

/** Waits until the capture at a path has finished, also while the API is unavailable. */
export async function whenFinished<T extends RecordBody>(path: string, milliseconds: number, key?: string): Promise<T> {
  const end = Date.now() + milliseconds
  for (;;) {
    const request = call<T>(`/api/v1/${path}?wait=20`, key === undefined ? {} : { key })
    const { body, status } = await request.catch(() => ({ status: 0, body: undefined }))
    if (status === 200 && body !== undefined && body.status !== 'pending') return body
    if (Date.now() > end) throw new Error(`${path} is still ${body?.status ?? `unknown (HTTP ${status})`} after ${milliseconds} ms`)
    if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

/** Fetches the file of a completed record by its `download_url`, without a key. */
export async function download(record: RecordBody): Promise<Buffer> {
  if (record.download_url === null) throw new Error(`${record.id} is ${record.status}: ${JSON.stringify(record.error)}`)
  const response = await fetch(absolute(record.download_url))
  if (!response.ok) throw new Error(`the download returned ${response.status}: ${await response.text()}`)
  return Buffer.from(await response.arrayBuffer())
}
