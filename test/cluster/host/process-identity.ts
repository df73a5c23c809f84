/**
 * Identifies a process by number and start time, because a pid file outlives its process and the kernel reuses numbers. A signal is sent only if
 * the identity still matches.
 */
import { readFile } from 'node:fs/promises'

export interface ProcessIdentity {
  pid: number
  /** Clock ticks between the machine's start and the process's. */
  startTicks: number
  /** Changes with each start of the machine. */
  bootId: string
}

/** A number from /proc/<pid>/stat. The name in field 2 can contain spaces and parentheses, so fields are counted from its closing parenthesis. */
const fieldOf = (stat: string, field: number): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field - 3])

/** Field 22. */
export const parseStartTicks = (stat: string): number => fieldOf(stat, 22)

/** A zombie has ended, although its number is still in use. The state is the first thread's. Other threads that still end hold the process's sockets. */
export function isZombie(stat: string): boolean {
  const threads = fieldOf(stat, 20)
  return stateOf(stat) === 'Z' && threads <= 1
}

/** True for a process or thread that a signal has stopped, or that has ended. */
export function isHalted(stat: string): boolean {
  return 'TtZX'.includes(stateOf(stat))
}

/** Field 3. */
const stateOf = (stat: string): string => stat.charAt(stat.lastIndexOf(')') + 2)

/** The identity of a running process. Undefined when no process has this number. */
export async function identify(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
    if (isZombie(stat)) return undefined
    const bootId = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
    return { pid, startTicks: parseStartTicks(stat), bootId }
  } catch {
    return undefined // it ended
  }
}

/** True when exactly this process still runs. */
export async function isRunning(identity: ProcessIdentity): Promise<boolean> {
  const now = await identify(identity.pid)
  return now?.startTicks === identity.startTicks && now.bootId === identity.bootId
}

/** Sends a signal, to this process only. */
export async function signal(identity: ProcessIdentity, name: NodeJS.Signals): Promise<void> {
  if (!(await isRunning(identity))) return
  try {
    process.kill(identity.pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // it ended between the check and the signal
  }
}
