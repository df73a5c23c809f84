import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { LoadOrder, LoadResult } from './load-client.ts'

/** The process that sends requests. */
export interface Load {
  pid: number
  /** @throws when a response has another status than `status` */
  run: (order: LoadOrder, status: number) => Promise<LoadResult>
  close: () => Promise<void>
}

/** Starts the clients. */
export function startLoad(): Load {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'load-client.ts')], { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const run: Load['run'] = async (order, status) => {
    child.stdin.write(`${JSON.stringify(order)}\n`)
    const { value, done } = await answers.next()
    if (done) throw new Error('the client process has exited')
    const answer = JSON.parse(value) as LoadResult | { error: string }
    if ('error' in answer) throw new Error(`the clients failed: ${answer.error}`)
    const others = Object.keys(answer.statuses).filter((seen) => seen !== String(status))
    if (others.length > 0) throw new Error(`answers were ${JSON.stringify(answer.statuses)} instead of ${status}`)
    return answer
  }
  const close = async () => {
    child.stdin.end()
    if (child.exitCode === null) await once(child, 'exit')
  }
  return { pid: child.pid ?? 0, run, close }
}

/** Requests per second. */
export const rateOf = ({ milliseconds, totalMilliseconds }: Omit<LoadResult, 'statuses'>, each = 1): number =>
  (each * milliseconds.length) / (totalMilliseconds / 1_000)
