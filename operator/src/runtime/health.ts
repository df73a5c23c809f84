import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'

/** Checks behind the probes. Each returns its problems; an empty list means healthy. */
export interface HealthChecks {
  /** Problems that only a restart fixes. */
  findProblems: () => string[]
  /** Conditions that must be met before this replica can lead. */
  findUnready: () => string[]
}

/** Serves /healthz, /readyz and /metrics. Resolves when the server listens. */
export function serveHealth(port: number, registry: Registry, checks: HealthChecks): Promise<Server> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    if (path === '/healthz') respond(response, checks.findProblems())
    else if (path === '/readyz') respond(response, checks.findUnready())
    else if (path === '/metrics') void writeMetrics(response, registry)
    else response.writeHead(404).end()
  })
  const { promise, resolve, reject } = Promise.withResolvers<Server>()
  server.once('error', reject)
  server.listen(port, () => resolve(server))
  return promise
}

function respond(response: ServerResponse, findings: string[]): void {
  response.writeHead(findings.length === 0 ? 200 : 503, { 'content-type': 'text/plain; charset=utf-8' })
  response.end(findings.length === 0 ? 'ok\n' : `${findings.join('\n')}\n`)
}

async function writeMetrics(response: ServerResponse, registry: Registry): Promise<void> {
  try {
    const text = await registry.metrics()
    response.writeHead(200, { 'content-type': registry.contentType }).end(text)
  } catch {
    response.writeHead(500).end()
  }
}
