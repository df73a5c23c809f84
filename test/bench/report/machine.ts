import { readdirSync, readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { paths } from '../../cluster/host/state.ts'

/** Describes the machine of the measurement. */
export function describeMachine(): string {
  const [first] = cpus()
  return `${cpus().length} processors (${first?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB of memory`
}

/** Describes the etcd of the local cluster. */
export const describeClusterStore = (): string => describeStore(listCommands())

/** Describes whether etcd waits for the disk at each write, which determines the cost of the three writes per capture. */
export function describeStore(commands: readonly (readonly string[])[]): string {
  const store = commands.find((words) => words[0]?.endsWith('etcd') && words.some((word) => word.includes(paths.etcd)))
  if (!store) return 'an etcd of unknown durability'
  return store.includes('--unsafe-no-fsync') ? 'etcd does not wait for the disk' : 'etcd waits for the disk at each write'
}

/** The command lines of all processes, word by word. */
function listCommands(): string[][] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readCommand(pid).split('\0'))
}

/** Empty if the process has just exited. */
function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
