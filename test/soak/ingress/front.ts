/** Requests by curl through Envoy, as a client outside of the cluster sends them: to the public host name on port 443. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { inside } from '../../cluster/kubernetes/network.ts'
import type { Envoy } from './contour.ts'
import type { H2Request } from './h2-program.ts'

const PROGRAM = path.join(import.meta.dirname, 'h2-program.ts')

/** Where clients find the API. */
export interface Front {
  envoy: Envoy
  host: string
  /** Path of the certificate authority that clients trust. */
  authority: string
  /** Address that the client's connections come from. */
  clientAddress: string
  /** API key. */
  key: string
  /** Directory for bodies. */
  directory: string
}

export interface FrontRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
  /** Options of curl. */
  options?: readonly string[]
  /** False: the request has no API key. */
  hasKey?: boolean
}

/** The last response, after redirects that curl followed. */
export interface FrontResponse {
  status: number
  /** `1.1` or `2` */
  version: string
  seconds: number
  redirects: number
  /** How the exchange broke, from curl. Empty: it did not. */
  failure: string
  headers: Record<string, string>
  body: Buffer
}

interface Written {
  http_code: number
  http_version: string
  time_total: number
  num_redirects: number
  /** Why curl failed, such as a stream that ended early. */
  errormsg: string | null
}

/** Longer than any request of the checks on a slow machine. */
const REQUEST_SECONDS = 300

/** Sends a request. @param url absolute, or a path below https://<host> The status is 0 without a response. */
export async function ask(front: Front, url: string, request: FrontRequest = {}): Promise<FrontResponse> {
  const { envoy, host } = front
  const directory = await mkdtemp(path.join(front.directory, 'request-'))
  const { method, headers = {}, body, options = [], hasKey = true } = request
  const input = body === undefined ? {} : { input: body }
  const file = path.join(directory, 'body')
  const all = { ...(hasKey ? { authorization: `Bearer ${front.key}` } : {}), ...headers }
  const ports = [
    [443, envoy.httpsPort],
    [80, envoy.httpPort],
  ].map(([from, to]) => `${host}:${from}:${envoy.address}:${to}`)
  const args = [
    ...['--silent', '--show-error', '--max-time', String(REQUEST_SECONDS), '--cacert', front.authority, '--interface', front.clientAddress],
    ...ports.flatMap((target) => ['--connect-to', target]),
    ...Object.entries(all).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ...(method === undefined ? [] : ['--request', method]),
    ...(body === undefined ? [] : ['--header', 'content-type: application/json', '--data-binary', '@-']),
    ...['--output', file, '--write-out', '%{json}\n%{header_json}', ...options, new URL(url, `https://${host}`).href],
  ]
  try {
    const [written = '', ...rest] = (
      await inside('sh', ['-c', 'curl "$@" || true', 'curl', ...args], { ...input, timeoutMilliseconds: REQUEST_SECONDS * 1_000 })
    ).split('\n')
    const { http_code, http_version, time_total, num_redirects, errormsg } = JSON.parse(written) as Written
    const received = Object.entries(JSON.parse(rest.join('\n')) as Record<string, string[]>)
    return {
      status: http_code,
      version: http_version,
      seconds: time_total,
      redirects: num_redirects,
      failure: errormsg ?? '',
      headers: Object.fromEntries(received.map(([name, values]) => [name, values.join(', ')])),
      body: await readFile(file).catch(() => Buffer.alloc(0)), // curl creates no file for an empty body
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Posts a body with the HTTP/2 client of Node.js. */
export async function postOverHttp2(front: Front, url: string, body: string): Promise<Pick<FrontResponse, 'status' | 'body'>> {
  const { envoy, host, authority, key } = front
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request: H2Request = { target: `${envoy.address}:${envoy.httpsPort}`, host, path: url, authority, headers, body }
  const options = { input: JSON.stringify(request), timeoutMilliseconds: REQUEST_SECONDS * 1_000 }
  const received = JSON.parse(await inside(process.execPath, [PROGRAM], options)) as { status: number; body: string }
  return { status: received.status, body: Buffer.from(received.body) }
}

/** The body of a response as JSON. */
export const bodyOf = <T>({ body }: FrontResponse): T => JSON.parse(body.toString()) as T

/** Status, the error code of the API or the beginning of another body, and how the exchange broke. With 5xx also the message of the API. */
export function describe({ status, body, failure }: Pick<FrontResponse, 'status' | 'body' | 'failure'>): string {
  const text = body.subarray(0, 2_000).toString()
  const code = /"code":\s*"([A-Z_]+)"/.exec(text)?.[1]
  const message = status >= 500 ? /"message":\s*"([^"]+)"/.exec(text)?.[1] : undefined
  return [status, code ?? (status >= 400 ? text.slice(0, 60) : ''), message, failure].filter(Boolean).join(' ')
}
