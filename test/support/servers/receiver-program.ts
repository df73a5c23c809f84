// A webhook endpoint for a pod of the cluster: HTTPS on 8443 with the certificate in /tls, and on 8080 the list of received requests for
// the test. The file imports only Node's modules, so that a ConfigMap can contain it. `/fail/2` returns 500 to the first two attempts,
// `/slow/2` responds to the first two only after six seconds.

import { readFileSync } from 'node:fs'
import { createServer as createPlainServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { buffer } from 'node:stream/consumers'

/** A received request as the list shows it, with `body` in base64. */
export interface ListedRequest {
  method: string
  path: string
  headers: Record<string, string | string[] | undefined>
  body: string
}

const HTTPS_PORT = 8443
const LIST_PORT = 8080
const SLOW_MILLISECONDS = 6_000
const received: ListedRequest[] = []

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '/'
  received.push({ method: request.method ?? '', path, headers: request.headers, body: (await buffer(request)).toString('base64') })
  const [, way, count = 0] = /^\/(fail|slow)\/(\d)$/.exec(path) ?? []
  const isAsSaid = Number(request.headers['x-webhook-attempt']) <= Number(count)
  if (isAsSaid && way === 'slow') await new Promise((resolve) => setTimeout(resolve, SLOW_MILLISECONDS))
  response.writeHead(isAsSaid && way === 'fail' ? 500 : 200).end()
}

createServer({ cert: readFileSync('/tls/tls.crt'), key: readFileSync('/tls/tls.key') }, (request, response) => {
  take(request, response).catch(() => response.destroy())
}).listen(HTTPS_PORT)
createPlainServer((_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(received))).listen(
  LIST_PORT,
)
