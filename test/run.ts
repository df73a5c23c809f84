import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { readFailures, readTotals, type Totals } from './support/tap-totals.ts'

// `npm test`: everything, in the order in which a fault is cheapest to find. `npm test -- unit e2e` runs only those stages.
// A stage that fails does not hide the next one's result, except that nothing can run on a cluster that did not come up.

interface Stage {
  name: string
  /** Commands that come before the tests; one that fails ends the run. */
  prepare?: string[][]
  /** Folder of tap tests. */
  tests?: string
  /** How many test files run side by side; tests that share the cluster or the machine's network run alone. */
  jobs?: number
}

const node = process.execPath
const stages: Stage[] = [
  {
    name: 'verify',
    prepare: [
      [node, 'test/prepare.ts'],
      [node, 'test/verify.ts', '--no-unit'],
    ],
  },
  { name: 'unit', tests: 'test/unit', jobs: 2 },
  { name: 'integration', prepare: [[node, 'test/prepare.ts']], tests: 'test/integration', jobs: 1 },
  { name: 'e2e', prepare: [[node, 'test/cluster/start.ts']], tests: 'test/e2e', jobs: 1 },
]

const { positionals } = parseArgs({ allowPositionals: true })
const unknown = positionals.filter((name) => !stages.some((stage) => stage.name === name))
if (unknown.length > 0) {
  console.error(`no stage named ${unknown.join(', ')}; there are ${stages.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const chosen = stages.filter(({ name }) => positionals.length === 0 || positionals.includes(name))

function run([command = '', ...args]: string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' })
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)).on('error', () => resolve(1)))
}

async function runTests({ name, tests, jobs = 1 }: Stage): Promise<Totals> {
  mkdirSync('.tintype/test', { recursive: true })
  const report = `.tintype/test/${name}.tap`
  const files = [`${tests}/**/*.test.ts`, `--jobs=${jobs}`, '--timeout=600', '--disable-coverage']
  // tap's own reporters draw anew for each assertion, which costs more than the tests where there are thousands.
  const code = await run([node, 'node_modules/tap/dist/esm/run.mjs', ...files, `--output-file=${report}`, '--reporter=silent'])
  const text = readFileSync(report, 'utf8')
  for (const failure of readFailures(text)) console.log(`\n${failure}`)
  const totals = readTotals(text)
  // A runner that ended badly without a failed test, by a signal say, is a failure all the same.
  return code !== 0 && totals.failed === 0 ? { ...totals, failed: 1 } : totals
}

const sum: Totals = { passed: 0, failed: 0 }
for (const stage of chosen) {
  const started = performance.now()
  console.log(`\n== ${stage.name}`)
  for (const command of stage.prepare ?? []) {
    if ((await run(command)) === 0) continue
    console.log(`\n${stage.name}: \`${command.slice(1).join(' ')}\` failed\n${sum.passed} passed, ${sum.failed + 1} failed`)
    process.exit(1)
  }
  const totals = stage.tests ? await runTests(stage) : { passed: 1, failed: 0 }
  sum.passed += totals.passed
  sum.failed += totals.failed
  console.log(`== ${stage.name}: ${totals.passed} passed, ${totals.failed} failed, ${((performance.now() - started) / 1000).toFixed(0)} s`)
}
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exit(sum.failed === 0 ? 0 : 1)
