import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'

const PROGRAM = join(import.meta.dirname, 'connect-proxy-program.ts')

/** Starts a forward proxy in its own process, which ends with the test. */
export async function startConnectProxy(t: Test, credentials?: string) {
  const child = spawn(process.execPath, [PROGRAM, ...(credentials === undefined ? [] : [credentials])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => void child.kill())
  /** Requested targets as `host:port`. */
  const targets: string[] = []
  const port = Promise.withResolvers<string>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('port ')) port.resolve(line.slice('port '.length))
    else targets.push(line)
  })
  child.on('exit', () => port.reject(new Error('the proxy has exited')))
  return { url: `http://127.0.0.1:${await port.promise}`, targets }
}
