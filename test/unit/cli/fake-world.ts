import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'
import type { World } from '../../../api-gateway/cli/src/commands/context.ts'
import { run } from '../../../api-gateway/cli/src/run.ts'
import type { Output } from '../../../api-gateway/cli/src/terminal/output.ts'
import { listen } from '../../support/servers/serve.ts'

// The world of a command: outputs that are kept, an environment without settings, and a local service.

export function anOutput({ isTerminal = false, columns = 80 } = {}) {
  const output = {
    text: '',
    isTerminal,
    columns,
    write: (chunk: string | Uint8Array) => {
      output.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1')
    },
  }
  return output satisfies Output
}

interface WorldOptions {
  environment?: Record<string, string>
  input?: string
  isTerminal?: boolean
  signal?: AbortSignal
  isKubectlPlugin?: boolean
}

/** Runs a command line in this process. Without `environment` it finds no settings. */
export async function runCli(args: readonly string[], options: WorldOptions = {}) {
  const { environment = {}, input = '', isTerminal = false, signal = new AbortController().signal, isKubectlPlugin = false } = options
  const [stdout, stderr] = [anOutput({ isTerminal }), anOutput({ isTerminal })]
  async function* stdin() {
    yield Buffer.from(input)
  }
  const now = () => new Date('2026-11-24T12:00:00Z')
  const world: World = {
    stdout,
    stderr,
    stdin: stdin(),
    environment: { HOME: '/nonexistent', ...environment },
    signal,
    now,
    isKubectlPlugin,
  }
  const code = await run(args, world)
  return { code, stdout: stdout.text, stderr: stderr.text }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

export const sendError = (response: ServerResponse, status: number, code: string, message = `it is ${code}`, details?: unknown): void =>
  sendJson(response, { success: false, error: { code, message, details } }, status)

/** A request to a route of a service. */
export interface Call {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  body: any
  query: URLSearchParams
  headers: IncomingHttpHeaders
  /** The last word of its path. */
  id: string
}

/** What a route responds: an object, as JSON, or what a function of the request returns or writes. */
export type Route = object | ((call: Call, response: ServerResponse) => unknown)

/**
 * A service for one test. Routes are exact, such as `GET /keys`, or end with any word, such as `GET /files/*`; the service finds no others. `before` may
 * respond instead. It keeps the requests, such as `POST /keys {"name":"ci"}`, and their API keys. `run` runs a command line of this service: words, and
 * arguments with spaces.
 */
export async function aService(
  t: Pick<Test, 'teardown'>,
  routes: Readonly<Record<string, Route>>,
  before: (request: string, response: ServerResponse) => void = () => {},
) {
  const requests: string[] = []
  const authorizations: (string | undefined)[] = []
  const server = createServer(async (request, response) => {
    const sent = await text(request)
    const { pathname, search, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
    const path = pathname.replace(/^\/(api\/)?v1/, '')
    const [line, id = ''] = [`${request.method} ${path}`, path.split('/').at(-1)]
    requests.push(`${line}${search}${sent && ` ${sent}`}`)
    authorizations.push(request.headers.authorization)
    before(line, response)
    if (response.headersSent || response.destroyed) return
    const route = routes[line] ?? routes[line.replace(/[^/]+$/, '*')]
    if (route === undefined) return sendError(response, 404, 'NOT_FOUND', `${path.split('/')[1]?.replace(/s$/, '')} not found`)
    const body = sent === '' ? undefined : JSON.parse(sent)
    const reply = typeof route === 'function' ? route({ body, query, headers: request.headers, id }, response) : route
    if (!response.headersSent && !response.destroyed) sendJson(response, reply)
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  t.teardown(stop)
  const environment = { TINTYPE_URL: url, TINTYPE_API_KEY: 'key' }
  const run = (words: string, ...more: string[]) => runCli([...words.split(' '), ...more], { environment })
  return { url, environment, requests, authorizations, run, stop }
}

/** A page of a list, and the only one. */
export const pageOf = (...data: unknown[]): object => ({ success: true, data, pagination: { has_more: false, next_cursor: null } })
/** A route that deletes something. */
export const noContent: Route = (_, response) => response.writeHead(204).end()
/** A route that returns an error. */
export const failing =
  (status: number, code: string, message?: string, details?: unknown): Route =>
  (_, response) =>
    sendError(response, status, code, message, details)
/** A route that returns the bytes of a file. */
export const fileOf =
  (content: string): Route =>
  (_, response) =>
    response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(content)
