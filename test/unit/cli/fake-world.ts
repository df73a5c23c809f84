import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { World } from '../../../api-gateway/cli/src/commands/context.ts'
import { run } from '../../../api-gateway/cli/src/run.ts'
import type { Output } from '../../../api-gateway/cli/src/terminal/output.ts'

// The world of a command: outputs that are kept, an environment without settings, and a local service.

export interface FakeOutput extends Output {
  text: string
}

export function anOutput({ isTerminal = false, columns = 80 } = {}): FakeOutput {
  const output = {
    text: '',
    isTerminal,
    columns,
    write: (chunk: string | Uint8Array) => {
      output.text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1')
    },
  }
  return output
}

export interface FakeRun {
  code: number
  stdout: string
  stderr: string
}

export interface WorldOptions {
  environment?: Record<string, string>
  input?: string
  isTerminal?: boolean
  signal?: AbortSignal
  isKubectlPlugin?: boolean
}

/** Runs a command line in this process. Without `environment` it finds no settings. */
export async function runCli(args: readonly string[], options: WorldOptions = {}): Promise<FakeRun> {
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

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A local http server. */
export async function serve(handler: Handler): Promise<{ url: string; stop: () => void }> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

export const sendError = (response: ServerResponse, status: number, code: string, message = `it is ${code}`): void =>
  sendJson(response, { success: false, error: { code, message } }, status)
