import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { accessFromToken } from '../../../../crds/client/cluster-access.ts'
import { KubeHttp, type KubeHttpOptions } from '../../../../crds/client/kube-http.ts'
import { listen } from '../../../support/servers/serve.ts'

/** One request to the server, and the response to write. */
export type Exchange = {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: unknown
  response: ServerResponse
}

export type ScriptedServer = { url: string; exchanges: Exchange[]; connections: () => number; http: KubeHttp }

/** An HTTP server on loopback with responses from the test. It closes at the end of the test. */
export async function startScriptedServer(
  t: Test,
  answer: (exchange: Exchange, number: number) => unknown,
  options: KubeHttpOptions = {},
): Promise<ScriptedServer> {
  const exchanges: Exchange[] = []
  let connections = 0
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', 'http://localhost')
    const body = await text(request)
    const { method = '', headers } = request
    const exchange = { method, path: url.pathname, query: url.searchParams, headers, body: body ? JSON.parse(body) : undefined, response }
    exchanges.push(exchange)
    await answer(exchange, exchanges.length)
  })
  server.on('connection', () => connections++)
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const http = new KubeHttp(accessFromToken({ server: url, token: 'secret' }), options)
  t.teardown(async () => {
    await http.close()
    server.closeAllConnections()
  })
  return { url, exchanges, connections: () => connections, http }
}

/** Responds with JSON. */
export function sendJson(response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Responds with an error Status, as the API server does. */
export function sendStatus(response: ServerResponse, code: number, reason: string, headers: Record<string, string> = {}): void {
  sendJson(response, { kind: 'Status', status: 'Failure', code, reason, message: `refused: ${reason}` }, code, headers)
}

/** Waits for a condition. Fails the test after ten seconds. */
export async function until(isSo: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 10_000
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it never came to this: ${what}`)
    await sleep(2)
  }
}
