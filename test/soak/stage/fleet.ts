import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'

/** A command for the fleet. An empty one only requests its state. */
export interface FleetOrder {
  captureMilliseconds?: number
  /** True: half of the runners stop responding and their pods cannot be deleted, as if their node was lost. False: the node is back. */
  loseHalf?: boolean
  /** Requests the start times of captures. */
  times?: boolean
  /** Resets the recorded captures. */
  forget?: boolean
}

/** Response of the fleet. */
export interface FleetState {
  /** Screenshots whose capture was started. */
  begun: number
  /** Names of Screenshots whose capture was started more than once. */
  repeated: string[]
  /** Time of the first start of each capture in epoch milliseconds, by name, if requested. */
  times: Record<string, number>
  runners: number
  /** Pods on the lost node. */
  lost: string[]
}

/** Handle to the process of fleet-program.ts. */
export interface Fleet {
  pid: number
  send: (order: FleetOrder) => Promise<FleetState>
  close: () => Promise<void>
}

/** Starts a process that simulates the runners of all pools. @param network first half of their addresses, in 127.0.0.0/8 */
export async function startFleet(kubeconfigPath: string, namespace: string, network: string): Promise<Fleet> {
  const program = path.join(import.meta.dirname, 'fleet-program.ts')
  const child = spawn(process.execPath, [program, kubeconfigPath, namespace, network], { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await answers.next()
    if (done) throw new Error('the fleet process has exited')
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
