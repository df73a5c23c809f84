/** Processor time of processes, as Linux counts it in /proc. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process at one moment. Times are in seconds. */
export interface ProcessState {
  pid: number
  parent: number
  /** Name of the program. It changes when the process executes another. */
  name: string
  /** Distinguishes processes that get the same number one after the other. */
  started: number
  used: number
  /** What its ended children used, and theirs. */
  usedByChildren: number
}

let ticks: number | undefined
const ticksPerSecond = (): number => (ticks ??= Number(execFileSync('getconf', ['CLK_TCK'])))

/** Reads /proc/<pid>/stat. The name in field 2 can contain spaces and parentheses. */
export function parseStat(stat: string, perSecond: number): ProcessState {
  const [open, close] = [stat.indexOf('('), stat.lastIndexOf(')')]
  const fields = stat.slice(close + 2).split(' ')
  const field = (number: number): number => Number(fields[number - 3])
  return {
    pid: Number(stat.slice(0, open)),
    parent: field(4),
    name: stat.slice(open + 1, close),
    started: field(22),
    used: (field(14) + field(15)) / perSecond,
    usedByChildren: (field(16) + field(17)) / perSecond,
  }
}

/** All processes of the machine. */
export const readProcesses = (): ProcessState[] =>
  readdirSync('/proc').flatMap((entry) => {
    const stat = /^\d+$/.test(entry) ? readText(`/proc/${entry}/stat`) : ''
    return stat === '' ? [] : parseStat(stat, ticksPerSecond())
  })

/** Command line of a process. Empty if it has ended. */
export const readCommand = (pid: number): string[] => readText(`/proc/${pid}/cmdline`).split('\0').slice(0, -1)

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return '' // it ended
  }
}
