import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'

const END_MILLISECONDS = 10_000

/** A program that reads and writes lines of JSON. It exits at the end of its input. */
export interface LineProgram<Order, Answer> {
  pid: number
  send: (order: Order) => void
  /** Waits for its next line. */
  hear: () => Promise<unknown>
  /** Sends a line and waits for the response. @throws the `error` of the response */
  ask: (order: Order) => Promise<Answer>
  close: () => Promise<void>
}

/** Starts the program. Its standard error is inherited. */
export function openLines<Order, Answer>(program: string, args: readonly string[], env = process.env): LineProgram<Order, Answer> {
  const child: ChildProcessByStdio<Writable, Readable, null> = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const hear = async (): Promise<unknown> => {
    const { value, done } = await answers.next()
    if (done) throw new Error(`${program} ${args.join(' ').slice(0, 100)} has ended`)
    return JSON.parse(value)
  }
  const send = (order: Order) => void child.stdin.write(`${JSON.stringify(order)}\n`)
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  return {
    pid: child.pid ?? 0,
    send,
    hear,
    ask: async (order) => {
      send(order)
      const answer = await hear()
      if (answer && typeof answer === 'object' && 'error' in answer && answer.error) throw new Error(String(answer.error))
      return answer as Answer
    },
    close: async () => {
      child.stdin.end()
      if (child.exitCode === null) await Promise.race([once(child, 'exit'), sleep(END_MILLISECONDS)])
      kill()
      process.off('exit', kill)
    },
  }
}
