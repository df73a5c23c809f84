import { existsSync, readFileSync, rmSync } from 'node:fs'
import { readFailures } from './tap-totals.ts'

// tap prints the files of a run in the order in which it started them, so one long file hides the ones that have ended. It also writes the output of each
// file to a file of its own while the test runs. Those say what is done.

const POLL_MILLISECONDS = 2_000
const LINE_MILLISECONDS = 30_000
const END = /^# time=[\d.]+m?s\s*$/m

export interface Progress {
  total: number
  done: number
  failed: readonly string[]
  seconds: number
}

/** The failures of the output of one file, or undefined while it runs. */
export function readFinished(file: string, tap: string): string[] | undefined {
  const lastLines = tap.trimEnd().slice(-60)
  if (!END.test(lastLines)) return undefined
  return readFailures(`# Subtest: ${file}\n${tap.replaceAll(/^(?=.)/gm, '    ')}`)
}

/** `integration: 57 of 174 files done after 12 min; failed: a.test.ts` */
export function describeProgress(stage: string, { total, done, failed, seconds }: Progress): string {
  const time =
    seconds < 60 ? `${Math.round(seconds)} s` : `${Math.floor(seconds / 60)} min ${String(Math.floor(seconds % 60)).padStart(2, '0')} s`
  return `${stage}: ${done} of ${total} files done after ${time}${failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''}`
}

/** Prints the failures of each file as soon as it ends, and a line on the progress every half minute. */
export function followFiles(stage: string, files: readonly string[], print: (text: string) => void = console.log) {
  const started = performance.now()
  const running = new Set(files)
  const failed: string[] = []
  let lastLine = started
  for (const file of files) rmSync(resultOf(file), { force: true })
  const look = (): void => {
    for (const file of running) {
      const failures = existsSync(resultOf(file)) ? readFinished(file, readFileSync(resultOf(file), 'utf8')) : undefined
      if (failures === undefined) continue
      running.delete(file)
      if (failures.length > 0) failed.push(file)
      for (const failure of failures) print(`\n${failure}`)
    }
    if (performance.now() - lastLine < LINE_MILLISECONDS) return
    lastLine = performance.now()
    print(describeProgress(stage, { total: files.length, done: files.length - running.size, failed, seconds: (lastLine - started) / 1000 }))
  }
  const timer = setInterval(look, POLL_MILLISECONDS)
  return {
    /** Returns the files whose failures were printed. */
    stop: (): readonly string[] => {
      clearInterval(timer)
      look()
      return failed
    },
  }
}

const resultOf = (file: string): string => `.tap/test-results/${file}.tap`
