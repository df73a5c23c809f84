import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'

// Serves port 9090 for Kubernetes and Prometheus. Clients do not use it.

interface ProbeDeps {
  registry: Registry
  /** Why this replica is not ready. Empty when it is ready. */
  findReasons: () => string[]
}

function respond(response: ServerResponse, status: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}

/** Builds the server of /healthz (liveness), /readyz (readiness) and /metrics. */
export function buildProbeServer({ registry, findReasons }: ProbeDeps): Server {
  return createServer(async (request, response) => {
    const path = request.url?.split('?')[0]
    if (path === '/healthz') return respond(response, 200, 'ok\n')
    if (path === '/readyz') {
      const reasons = findReasons()
      return respond(response, reasons.length === 0 ? 200 : 503, `${reasons.join('\n') || 'ok'}\n`)
    }
    if (path === '/metrics') return respond(response, 200, await registry.metrics(), registry.contentType)
    return respond(response, 404, 'not found\n')
  })
}
