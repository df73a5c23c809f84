/**
 * Tells a process from another one that later got the same number: a pid file outlives its process, and after a restart of the machine
 * the number belongs to somebody else. No signal is sent to a process whose identity does not hold.
 */
import { readFile } from 'node:fs/promises'

export interface ProcessIdentity {
  pid: number
  /** Clock ticks between the machine's start and the process's. */
  startTicks: number
  /** Changes with each start of the machine. */
  bootId: string
}

/** A number of /proc/<pid>/stat. The name in field 2 may hold blanks and brackets, so fields are counted from its closing bracket. */
const fieldOf = (stat: string, field: number): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field - 3])

/** Field 22. */
export const parseStartTicks = (stat: string): number => fieldOf(stat, 22)

/** A zombie has ended, though its number is still taken. The state is that of the first thread: while others end, they hold the process's sockets. */
export function isZombie(stat: string): boolean {
  const threads = fieldOf(stat, 20)
  return stateOf(stat) === 'Z' && threads <= 1
}

/** A process or thread that does nothing: stopped by a signal, or at its end. */
export function isHalted(stat: string): boolean {
  return 'TtZX'.includes(stateOf(stat))
}

/** Field 3. */
const stateOf = (stat: string): string => stat.charAt(stat.lastIndexOf(')') + 2)

/** The identity of a running process, or undefined when there is none of that number. */
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

/** Whether exactly this process still runs. */
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
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error // it ended between the look and the signal
  }
}
