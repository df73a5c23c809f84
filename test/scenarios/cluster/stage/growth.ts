import type { ProcessState } from '../../../support/times/proc.ts'

/** A process of a program, with the program's name. */
export interface ProgramProcess {
  state: ProcessState
  program: string
  /** Chromium forks its renderers from processes of this kind. */
  isZygote: boolean
  isRenderer: boolean
}

/** Processor seconds so far, by program and process. */
export type Sample = ReadonlyMap<string, { program: string; seconds: number }>

/** Processor seconds by program. */
export type Growth = Readonly<Record<string, number>>

/**
 * Adds up the processes of a moment. A renderer ends with its page, and its zygote then has its time. So a zygote and all its renderers count as one
 * process.
 */
export function takeSample(processes: readonly ProgramProcess[]): Sample {
  const byPid = new Map(processes.map((process) => [process.state.pid, process]))
  const firstOf = (process: ProgramProcess): ProgramProcess => {
    const parent = byPid.get(process.state.parent)
    return parent?.isZygote && (process.isZygote || process.isRenderer) ? firstOf(parent) : process
  }
  const sample = new Map<string, { program: string; seconds: number }>()
  for (const process of processes) {
    const { state, program, isZygote, isRenderer } = process
    const first = firstOf(process).state
    const key = `${first.pid} ${first.started}`
    const seconds = state.used + (isZygote || isRenderer ? state.usedByChildren : 0)
    sample.set(key, { program: sample.get(key)?.program ?? program, seconds: (sample.get(key)?.seconds ?? 0) + seconds })
  }
  return sample
}

/** The difference between two samples, by program. What ended since the first one does not count. */
export function growthOf(before: Sample, after: Sample): Growth {
  const growth: Record<string, number> = {}
  for (const [key, { program, seconds }] of after) growth[program] = (growth[program] ?? 0) + seconds - (before.get(key)?.seconds ?? 0)
  return growth
}

/** Milliseconds of one picture by program, without what the programs use when nothing is captured. @param idle growth of one second */
export const priceOf = (growth: Growth, { seconds, pictures, idle }: { seconds: number; pictures: number; idle: Growth }): Growth =>
  Object.fromEntries(
    Object.entries(growth).map(([program, used]) => [program, ((used - (idle[program] ?? 0) * seconds) * 1_000) / pictures]),
  )
