import { globSync, readFileSync } from 'node:fs'
import { CommandError, run } from '../cluster/host/exec.ts'
import { FULL_LENGTH } from '../support/length.ts'
import { type Report, scenario } from './harness/scenario.ts'

/** Test files that have a short form for `npm test`. */
const findFiles = (): string[] =>
  globSync('test/{unit,integration}/**/*.test.ts')
    .filter((file) => readFileSync(file, 'utf8').includes('/support/length.ts'))
    .sort()
const MINUTES = 15

/** Runs a test file at full length. */
async function runFile({ holds }: Report, file: string): Promise<void> {
  const environment = { ...FULL_LENGTH, TAP_TIMEOUT: String(MINUTES * 60) }
  const running = run(process.execPath, [file], { environment, timeoutMilliseconds: (MINUTES + 1) * 60_000 })
  const output = await running.then(
    (text) => text,
    (error: unknown) => {
      if (error instanceof CommandError) return error.output
      throw error
    },
  )
  const [failure] = /^not ok .*$/m.exec(output) ?? []
  const isMet = failure === undefined && /^# \{ total: .*$/m.test(output)
  holds(file, isMet, failure ?? output.trimEnd().split('\n').at(-1) ?? '')
}

export const nightly = scenario({
  name: 'nightly',
  shows: 'the tests whose short form is in `npm test` pass at full length',
  run: async (report) => {
    for (const file of findFiles()) {
      report.progress(file)
      await runFile(report, file)
    }
  },
})
