import path from 'node:path'
import { type LineProgram, openLines } from '../../harness/line-program.ts'

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

/** The process of fleet-program.ts. */
export type Fleet = LineProgram<FleetOrder, FleetState>

/** Starts a process that simulates the runners of all pools. @param network first half of their addresses, in 127.0.0.0/8 */
export async function startFleet(kubeconfigPath: string, namespace: string, network: string): Promise<Fleet> {
  const program = path.join(import.meta.dirname, 'fleet-program.ts')
  const fleet: Fleet = openLines(process.execPath, [program, kubeconfigPath, namespace, network])
  await fleet.hear()
  return fleet
}
