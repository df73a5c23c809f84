import { readdirSync, readFileSync } from 'node:fs'

// The processes of this pod as /proc shows them. Read synchronously: each file is made up by the kernel in microseconds, and a process
// may be gone by the next turn of the event loop.

const KIBIBYTE = 1_024

/** A process and its parent. */
export interface ProcessEntry {
  pid: number
  parent: number
}

/** Every process that is visible. */
export function listProcesses(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      // The command's name stands in parentheses and may hold any character, parentheses too.
      const [, parent] = /^.*\)\s+\S\s+(\d+)/s.exec(readProc(name, 'stat')) ?? []
      return parent === undefined ? [] : [{ pid: Number(name), parent: Number(parent) }]
    })
}

/** The process `root` and all below it. */
export function treeOf(root: number, processes: readonly ProcessEntry[] = listProcesses()): number[] {
  const children = Map.groupBy(processes, ({ parent }) => parent)
  const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap((child) => below(child.pid))]
  return below(root)
}

/** The arguments that a process was started with, apart at spaces too: Chromium's children rewrite theirs into one line. */
export const argumentsOf = (pid: number): string[] => readProc(String(pid), 'cmdline').split(/[\0 ]/).filter(Boolean)

/**
 * Bytes of memory that a process alone is to blame for. Shared memory (painted tiles) is counted half, because renderer and compositor map
 * the same; exact figures (smaps) are closed for sandboxed processes.
 */
export function memoryOf(pid: number): number {
  const status = readProc(String(pid), 'status')
  const kibibytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
  return (kibibytes('RssAnon') + kibibytes('RssShmem') / 2) * KIBIBYTE
}

/** Where a container finds its own count: cgroup v2, and v1. */
const GROUP_FILES = ['/sys/fs/cgroup/memory.current', '/sys/fs/cgroup/memory/memory.usage_in_bytes']

/** Bytes charged to the control group of this pod's container, cached files included; undefined where the system does not say. */
export function memoryOfGroup(files: readonly string[] = GROUP_FILES): number | undefined {
  for (const file of files) {
    try {
      return Number(readFileSync(file, 'utf8'))
    } catch {
      // The other version, or neither.
    }
  }
  return undefined
}

/** Bytes that a browser keeps when its pages are gone: the memory of all its processes but the renderers. */
export function keptBytesOf(browserPid: number): number {
  const lasting = treeOf(browserPid).filter((pid) => !argumentsOf(pid).includes('--type=renderer'))
  return lasting.reduce((sum, pid) => sum + memoryOf(pid), 0)
}

/** Empty for a process that has just gone. */
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
