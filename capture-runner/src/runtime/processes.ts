import { readdirSync, readFileSync } from 'node:fs'

// Reads the pod's processes from /proc. Synchronously, because the kernel generates each file in microseconds, and a process may be gone in the
// next turn of the event loop.

const KIBIBYTE = 1_024

/** A process and its parent. */
export interface ProcessEntry {
  pid: number
  parent: number
}

/** All visible processes. */
export function listProcesses(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      // The process name is in parentheses and may contain any character, even parentheses.
      const [, parent] = /^.*\)\s+\S\s+(\d+)/s.exec(readProc(name, 'stat')) ?? []
      return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent) }]
    })
}

/** The process `root` and its descendants. */
export function treeOf(root: number, processes: readonly ProcessEntry[] = listProcesses()): number[] {
  const children = Map.groupBy(processes, ({ parent }) => parent)
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap((child) => below(child.pid))]
  return below(root)
}

/** The arguments of a process, also split at spaces, because Chromium's children rewrite theirs into one line. */
export const argumentsOf = (pid: number): string[] => readProc(String(pid), 'cmdline').split(/[\0 ]/).filter(Boolean)

/**
 * Memory of one process in bytes. Shared memory (painted tiles) counts half, because renderer and compositor map the same pages. Exact figures
 * (smaps) are not readable for sandboxed processes.
 */
export function memoryOf(pid: number): number {
  const status = readProc(String(pid), 'status')
  const kibibytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  return (kibibytes('RssAnon') + kibibytes('RssShmem') / 2) * KIBIBYTE
}

/** Memory usage files of a container: cgroup v2, and v1. */
const GROUP_FILES = ['/sys/fs/cgroup/memory.current', '/sys/fs/cgroup/memory/memory.usage_in_bytes']

/** Bytes charged to this container's control group, page cache included; undefined if the system has no such file. */
export function memoryOfGroup(files: readonly string[] = GROUP_FILES): number | undefined {
  for (const file of files) {
    try {
      return Number(readFileSync(file, 'utf8'))
    } catch {
      // Not this version of cgroup.
    }
  }
  return undefined
}

/** Files that count the kills of a container by the kernel: cgroup v2, and v1. */
const EVENT_FILES = ['/sys/fs/cgroup/memory.events', '/sys/fs/cgroup/memory/memory.oom_control']

/** Number of processes of this container's control group that the kernel has killed for lack of memory; 0 if the system does not count them. */
export function oomKillCountOfGroup(files: readonly string[] = EVENT_FILES): number {
  for (const file of files) {
    try {
      return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0)
    } catch {
      // Not this version of cgroup.
    }
  }
  return 0
}

/** Memory that a browser retains after its pages are closed: that of all its processes except renderers. */
export function retainedBytesOf(browserPid: number): number {
  const lasting = treeOf(browserPid).filter((pid) => !argumentsOf(pid).includes('--type=renderer'))
  return lasting.reduce((sum, pid) => sum + memoryOf(pid), 0)
}

/** Empty for a process that has just ended. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** Sends SIGKILL to a process group. */
export function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
