import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

/** A command for the fleet. An empty one only requests its state. */
export interface FleetOrder {
  captureMilliseconds?: number
  /** True: half of the runners stop responding and their pods cannot be deleted, as if their node was lost. False: the node is back. */
  loseHalf?: boolean
  /** Asks when each capture was begun. */
  times?: boolean
  /** Forgets what was begun so far. */
  forget?: boolean
}

/** What it answers. */
export interface FleetState {
  /** Screenshots whose capture was begun. */
  begun: number
  /** Names of those whose capture was begun more than once. */
  repeated: string[]
  /** Epoch milliseconds at which captures were first begun, by name, if that was asked. */
  times: Record<string, number>
  runners: number
  /** Pods on the lost node. */
  lost: string[]
}

/** See fleet-program.ts. */
export interface Fleet {
  pid: number
  send: (order: FleetOrder) => Promise<FleetState>
  close: () => Promise<void>
}

/** Starts a process that plays the runners of every pool. @param network first half of their addresses, in 127.0.0.0/8 */
export async function startFleet(kubeconfigPath: string, namespace: string, network: string): Promise<Fleet> {
  const program = path.join(import.meta.dirname, 'fleet-program.ts')
  const child = spawn(process.execPath, [program, kubeconfigPath, namespace, network], { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await answers.next()
    if (done) throw new Error('the fleet has ended')
    return value
  }
  await next()
  return {
    pid: child.pid ?? 0,
    send: async (order) => {
      child.stdin.write(`${JSON.stringify(order)}\n`)
      return JSON.parse(await next()) as FleetState
    },
    close: async () => {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      if (child.exitCode === null) await once(child, 'exit')
      clearTimeout(timer)
    },
  }
}
