import { spawn } from 'node:child_process'
import { globSync, mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { readDurations, readFailedFiles, readFailures, readTotals, type Totals } from './support/sources/tap-totals.ts'
import { type Part, planParts, type Sharing } from './support/sources/test-parts.ts'

// `npm test`: everything, in the order in which a fault is cheapest to find. `npm test -- unit e2e` runs only those stages.
// A stage that fails does not hide the next one's result, except that nothing can run on a cluster that did not come up.

interface Stage {
  name: string
  /** Commands that come before the tests; one that fails ends the run. */
  prepare?: string[][]
  /** Folder of tap tests. */
  tests?: string
  /** How test files share the machine. */
  sharing?: Sharing
  /** Its tests share the machine with real servers: a file that fails is run once more by itself, and named as flaky if it passes then. */
  isRepeated?: true
}

const node = process.execPath
/**
 * Tests that would take the cluster from others, want answers of the default pool within the time of a held request, or count the events and
 * records of the account that all share.
 */
const apartOnCluster = ['chaos*', 'documentation', 'pictures', 'webhook', 'conformance/part-4-*', 'conformance/part-6'].map(
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
  { name: 'unit', tests: 'test/unit', sharing: { jobs: 2 } },
  // Each file has servers of its own and waits half of its time, so that more files than processors run.
  {
    name: 'integration',
    prepare: [[node, 'test/prepare.ts']],
    tests: 'test/integration',
    sharing: { jobs: availableParallelism() + 1 },
    isRepeated: true,
  },
  {
    name: 'e2e',
    prepare: [[node, 'test/cluster/start.ts']],
    tests: 'test/e2e',
    sharing: { jobs: 2, alone: apartOnCluster },
    isRepeated: true,
  },
]
/** So many of a stage's files are named at its end. */
const SLOWEST = 8
/** Where more files of a stage fail, something is broken, and a second run would only say it again. */
const MAX_REPEATED = 5

// Most of what a short process does is to read and compile the same sources again.
process.env.NODE_COMPILE_CACHE ??= path.resolve('.tintype/test/compile-cache')

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

/** Runs test files; resolves to what tap wrote about them, and its exit code. */
async function runFiles(report: string, { files, jobs }: Part): Promise<{ text: string; code: number }> {
  const options = [`--jobs=${jobs}`, '--timeout=900', '--disable-coverage']
  // tap's own reporters draw anew for each assertion, which costs more than the tests where there are thousands.
  const output = [`--output-file=${report}`, '--reporter=silent']
  const code = await run([node, 'node_modules/tap/dist/esm/run.mjs', ...files, ...options, ...output])
  return { text: readFileSync(report, 'utf8'), code }
}

interface Result extends Totals {
  /** What tap wrote. */
  text: string
  failedFiles: string[]
}

async function runPart(report: string, part: Part): Promise<Result> {
  const { text, code } = await runFiles(`.tintype/test/${report}.tap`, part)
  for (const failure of readFailures(text)) console.log(`\n${failure}`)
  const { passed, failed } = readTotals(text)
  // A runner that ended badly without a failed test, by a signal say, is a failure all the same.
  return { text, passed, failed: code !== 0 && failed === 0 ? 1 : failed, failedFiles: readFailedFiles(text) }
}

/** Runs the files that failed once more, one by one; resolves to what failed again. */
async function runAgain(name: string, files: string[]): Promise<number> {
  console.log(`\nonce more, by themselves: ${files.join(', ')}`)
  const { failed, failedFiles } = await runPart(`${name}-again`, { files, jobs: 1 })
  flaky.push(...files.filter((file) => !failedFiles.includes(file)))
  return failed
}

async function runTests({ name, tests, sharing = { jobs: 1 }, isRepeated }: Stage): Promise<Totals> {
  mkdirSync('.tintype/test', { recursive: true })
  const parts = planParts(globSync(`${tests}/**/*.test.ts`).sort(), sharing)
  const sum: Totals = { passed: 0, failed: 0 }
  const texts: string[] = []
  const results: Result[] = []
  for (const [index, part] of parts.entries()) results.push(await runPart(`${name}${index === 0 ? '' : `-${index + 1}`}`, part))
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
  const slowest = readDurations(texts.join('\n')).slice(0, SLOWEST)
  console.log(`slowest: ${slowest.map(({ file, seconds }) => `${path.relative(tests ?? '', file)} ${seconds.toFixed(0)} s`).join(', ')}`)
  return sum
}

/** Files that failed, and passed by themselves: each is a race to be found. */
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
if (flaky.length > 0) console.log(`\nflaky, failed once and passed by themselves: ${flaky.join(', ')}`)
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exit(sum.failed === 0 ? 0 : 1)
