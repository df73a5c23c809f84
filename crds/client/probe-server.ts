import { createServer, type Server, type ServerResponse } from 'node:http'
import type { Registry } from 'prom-client'

// Serves port 9090 of gateway and operator for Kubernetes and Prometheus. Every pod of the cluster may connect, so no request may end the program.

/** What the probes and Prometheus get. */
export interface ProbeParts {
  registry: Registry
  /** Problems that only a restart fixes. Absent: there are none. */
  findProblems?: () => readonly string[]
  /** Why this replica is not ready. Empty when it is ready. */
  findUnready: () => readonly string[]
}

interface Reply {
  status: number
  text: string
  type?: string
}

const toReply = (reasons: readonly string[]): Reply => ({
  status: reasons.length === 0 ? 200 : 503,
  text: `${reasons.join('\n') || 'ok'}\n`,
})

/** Builds the server of /healthz (liveness), /readyz (readiness) and /metrics. */
export const buildProbeServer = (parts: ProbeParts): Server =>
  createServer((request, response) => {
    reply(request.url?.split('?')[0], parts).then(
      (found) => send(response, found),
      () => send(response, { status: 500, text: 'internal error\n' }),
    )
  })

async function reply(path: string | undefined, { registry, findProblems = () => [], findUnready }: ProbeParts): Promise<Reply> {
  if (path === '/healthz') return toReply(findProblems())
  if (path === '/readyz') return toReply(findUnready())
  if (path === '/metrics') return { status: 200, text: await registry.metrics(), type: registry.contentType }
  return { status: 404, text: 'not found\n' }
}

function send(response: ServerResponse, { status, text, type = 'text/plain; charset=utf-8' }: Reply): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}
