import { cpus, loadavg, totalmem } from 'node:os'
import { paths } from '../../cluster/host/state.ts'
import { readCommand, readProcesses } from '../../support/times/proc.ts'

/** Describes the machine of the measurement. */
export function describeMachine(): string {
  const [first] = cpus()
  return `${cpus().length} processors (${first?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB of memory`
}

/** Load average over the last minute. */
export const readLoad = (): number => loadavg()[0] ?? 0

/** Describes whether the etcd of the local cluster waits for the disk at each write, which determines the cost of the writes of a capture. */
export function describeClusterStore(commands = readProcesses().map(({ pid }) => readCommand(pid))): string {
  const store = commands.find((words) => words[0]?.endsWith('etcd') && words.some((word) => word.includes(paths.etcd)))
  if (!store) return 'an etcd of unknown durability'
  return store.includes('--unsafe-no-fsync') ? 'etcd does not wait for the disk' : 'etcd waits for the disk at each write'
}
