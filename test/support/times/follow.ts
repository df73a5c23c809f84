import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { importStartTime } from '../processes/compile-cache.ts'
import { readCommand, readProcesses } from './proc.ts'
import { ProcessTimes } from './process-times.ts'
import { describeTimes } from './report.ts'

const DIRECTORY = path.resolve('.tintype/test/start-times')
const TABLE = '.tintype/test/times.md'
const SAMPLE_MILLISECONDS = 500

/** Measures everything that this process starts from now on. */
export function followTimes() {
  rmSync(DIRECTORY, { recursive: true, force: true })
  mkdirSync(DIRECTORY, { recursive: true })
  process.env.TINTYPE_TEST_TIMES = DIRECTORY
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} ${importStartTime()}`
  const times = new ProcessTimes(process.pid, readCommand, readStartTime)
  let last = performance.now()
  const sample = () => {
    const now = performance.now()
    times.add(readProcesses(), (now - last) / 1_000)
    last = now
  }
  const timer = setInterval(sample, SAMPLE_MILLISECONDS)
  return {
    beginStage: (name: string): void => {
      times.stage = name
    },
    /** Writes the table, and prints the sums. */
    end: (): void => {
      clearInterval(timer)
      sample()
      const { summary, whole } = describeTimes(times.finish())
      writeFileSync(TABLE, whole)
      console.log(`\nseconds by stage and cause; ${TABLE} has the files\n${summary}`)
    },
  }
}

function readStartTime(pid: number): number | undefined {
  try {
    return Number(readFileSync(path.join(DIRECTORY, `${pid}`), 'utf8'))
  } catch {
    return undefined // not Node.js, or it ended before
  }
}
