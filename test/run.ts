import { spawn } from 'node:child_process'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { sharedCluster } from './support/cluster/tested-release.ts'
import { COVERAGE_OPTIONS, findCoreGaps } from './support/sources/pure-core.ts'
import { readDurations, readFailedFiles, readFailures, readTotals, type Totals } from './support/sources/tap-totals.ts'
import { type Part, planParts, type Sharing } from './support/sources/test-parts.ts'

// `npm test` runs all stages, the fastest first. `npm test -- unit e2e` runs only the named stages. A failed stage does not prevent the next one,
// unless a command that prepares a stage fails.

interface Stage {
  name: string
  /** Commands before the tests. If one fails, the run ends. */
  prepare?: string[][]
  /** Folder of tap tests. */
  tests?: string
  /** Number of test files that run at the same time. */
  sharing?: Sharing
  /** Its tests compete with real servers for the machine. A file that fails runs once more alone, and is reported as flaky if it then passes. */
  isRepeated?: true
  /** Its tests must cover the pure core completely. */
  coversCore?: true
}

const node = process.execPath
/**
 * Tests that run alone: they disturb the cluster, need the default pool to respond within the time of a held request, or count events and records
 * of the shared account.
 */
const aloneOnCluster = ['chaos*', 'documentation', 'pictures', 'take', 'webhook', 'conformance/part-4-*', 'conformance/part-6'].map(
  (name) => `test/e2e/${name}.test.ts`,
)
const stages: Stage[] = [
  {
    name: 'verify',
    prepare: [
      [node, 'test/prepare.ts'],
      [node, 'test/verify.ts', '--no-unit'],
    ],
  },
  { name: 'unit', tests: 'test/unit', sharing: { jobs: 2 }, coversCore: true },
  // Each file has its own servers and waits half of the time, so one more file than processors runs.
  {
    name: 'integration',
    prepare: [[node, 'test/prepare.ts']],
    tests: 'test/integration',
    sharing: { jobs: availableParallelism() + 1 },
    isRepeated: true,
  },
  {
    name: 'e2e',
    // A soak part that tests another release on the cluster has installed it.
    prepare: sharedCluster ? [] : [[node, 'test/cluster/start.ts']],
    tests: 'test/e2e',
    sharing: { jobs: 2, alone: aloneOnCluster },
    isRepeated: true,
  },
]
/** Number of slowest files that are listed after a stage. */
const SLOWEST = 8
/** Maximum number of failed files to repeat. If more fail, something is broken and a repetition is useless. */
const MAX_REPEATED = 5

// Short processes spend most of their time on reading and compiling the same sources.
process.env.NODE_COMPILE_CACHE ??= path.resolve('.tintype/test/compile-cache')

const { positionals } = parseArgs({ allowPositionals: true })
const unknown = positionals.filter((name) => !stages.some((stage) => stage.name === name))
if (unknown.length > 0) {
  console.error(`unknown stage: ${unknown.join(', ')}. Stages: ${stages.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}
const chosen = stages.filter(({ name }) => positionals.length === 0 || positionals.includes(name))

function run([command = '', ...args]: string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' })
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)).on('error', () => resolve(1)))
}

/** Runs test files. Resolves to tap's output and exit code. */
async function runFiles(report: string, { files, jobs }: Part, coverage = ['--disable-coverage']): Promise<{ text: string; code: number }> {
  const options = [`--jobs=${jobs}`, '--timeout=900', ...coverage]
  // tap's reporters redraw for each assertion, which with thousands of them takes longer than the tests.
  const output = [`--output-file=${report}`, '--reporter=silent']
  const code = await run([node, 'node_modules/tap/dist/esm/run.mjs', ...files, ...options, ...output])
  return { text: readFileSync(report, 'utf8'), code }
}

interface Result extends Totals {
  /** Output of tap. */
  text: string
  failedFiles: string[]
}

async function runPart(report: string, part: Part, coverage?: string[]): Promise<Result> {
  const { text, code } = await runFiles(`.tintype/test/${report}.tap`, part, coverage)
  for (const failure of readFailures(text)) console.log(`\n${failure}`)
  const { passed, failed } = readTotals(text)
  // tap may exit with an error although no test failed, for example after a signal.
  return { text, passed, failed: code !== 0 && failed === 0 ? 1 : failed, failedFiles: readFailedFiles(text) }
}

/** Runs failed files once more, one at a time. Resolves to the number of failures. */
async function runAgain(name: string, files: string[]): Promise<number> {
  console.log(`\nrunning again alone: ${files.join(', ')}`)
  const { failed, failedFiles } = await runPart(`${name}-again`, { files, jobs: 1 })
  flaky.push(...files.filter((file) => !failedFiles.includes(file)))
  return failed
}

async function runTests({ name, tests, sharing = { jobs: 1 }, isRepeated, coversCore }: Stage): Promise<Totals> {
  mkdirSync('.tintype/test', { recursive: true })
  const parts = planParts(globSync(`${tests}/**/*.test.ts`).sort(), sharing)
  const sum: Totals = { passed: 0, failed: 0 }
  const texts: string[] = []
  const results: Result[] = []
  const coverage = coversCore ? COVERAGE_OPTIONS : undefined
  for (const [index, part] of parts.entries()) results.push(await runPart(`${name}${index === 0 ? '' : `-${index + 1}`}`, part, coverage))
  for (const { passed, failed, text } of results) {
    sum.passed += passed
    sum.failed += failed
    texts.push(text)
  }
  const repeatable = results.filter(({ failedFiles }) => failedFiles.length > 0)
  const files = repeatable.flatMap(({ failedFiles }) => failedFiles)
  if (isRepeated && files.length > 0 && files.length <= MAX_REPEATED) {
    for (const { failed } of repeatable) sum.failed -= failed
    sum.failed += await runAgain(name, files)
  }
  const gaps = coversCore ? findCoreGaps() : []
  for (const gap of gaps) console.log(`\nnot covered: ${gap}`)
  sum.failed += gaps.length
  const slowest = readDurations(texts.join('\n')).slice(0, SLOWEST)
  console.log(`slowest: ${slowest.map(({ file, seconds }) => `${path.relative(tests ?? '', file)} ${seconds.toFixed(0)} s`).join(', ')}`)
  return sum
}

/** Files that failed and then passed alone. Each has a race condition. */
const flaky: string[] = []
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
if (flaky.length > 0) console.log(`\nflaky (failed, then passed alone): ${flaky.join(', ')}`)
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exit(sum.failed === 0 ? 0 : 1)
