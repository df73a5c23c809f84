import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import type { Test } from 'tap'
import { RUNNER_PORT } from '../../../crds/src/identifiers/names.ts'
import { cluster } from './environment.ts'
import { NAMESPACE } from './tested-release.ts'

// Connects a test to the port of a runner, which only the operator should be able to use.

/** A complete request. Nothing is added to it. */
export interface RawRequest {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string
}

export interface RawAnswer {
  status: number
  body: string
}

/** Sends requests to one runner. */
export type Send = (raw: RawRequest) => Promise<RawAnswer>

/** Starts `kubectl port-forward` until the test ends. */
export async function openRunner(t: Test, pod: string): Promise<Send> {
  const forward = spawn('kubectl', ['-n', NAMESPACE, 'port-forward', `pod/${pod}`, `:${RUNNER_PORT}`], {
    env: cluster.shell,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => forward.kill())
  const [said] = (await once(forward.stdout, 'data')) as [Buffer]
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(said.toString()) ?? []
  if (port === undefined) throw new Error(`kubectl port-forward printed ${said}`)
  forward.stdout.resume()
  return ({ body = '', ...rest }) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, agent: false, ...rest }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
      })
      sent.on('error', reject).end(body)
    })
}
