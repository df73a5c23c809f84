import { spawn } from 'node:child_process'
import { closeSync, existsSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { BaseError } from './selection/changed-files.ts'
import { describeSelection, durationsFile, findTests, planChanged, readRecorded } from './selection/plan.ts'
import { sharedCluster } from './support/cluster/tested-release.ts'
import { groupFiles, ungroup } from './support/groups/group.ts'
import { serveLanes } from './support/lanes/lane-servers.ts'
import { BackgroundTools } from './support/processes/background-tools.ts'
import { followFiles } from './support/sources/progress.ts'
import { COVERAGE_OPTIONS, findCoreGaps, findCoreTests, isOfCore } from './support/sources/pure-core.ts'
import { readDurations, readFailedFiles, readFailures, readFileFaults, readTotals, type Totals } from './support/sources/tap-totals.ts'
import { type Part, planParts } from './support/sources/test-parts.ts'
import { TOOL_USERS } from './support/sources/tool-users.ts'
import { followTimes } from './support/times/follow.ts'

// `npm test` runs all stages, the fastest first, and the last two beside each other. `npm test -- unit e2e` runs only the named stages. A failed stage
// does not prevent the next one, unless a command that prepares a stage fails. `npm test -- FILE…` runs test files with what their stages prepare.
// `npm test -- --find FILE` lists the tests that a source file reaches. `npm test -- --changed [BASE]` runs the tests that the changes since BASE can reach.
// With `--times`, it writes a table of wall and processor time by file and cause.

interface Stage {
  name: string
  /** Commands before the tests. If one fails, the run ends. */
  prepare?: string[][]
  /** Folder of tap tests. */
  tests?: string
  /** Number of test files that run at the same time. */
  jobs?: number
  /** The same when no other stage runs. */
  jobsAlone?: number
  /** Files that leave the state of their process alone share a process. */
  hasGroups?: true
  /** The files of a lane share an API server. */
  hasLanes?: true
  /** Its tests compete with real servers for the machine. A file that fails runs once more alone, to tell a flaky file from a broken one. */
  isRepeated?: true
  /** Runs at the same time as the stage before it. */
  isBeside?: true
  /** Its tests must cover the pure core completely. */
  coversCore?: true
}

const node = process.execPath
const verify = [node, 'test/verify.ts', '--no-unit']
const prepareProduct = [node, 'test/prepare.ts', '--product']
const stages: Stage[] = [
  { name: 'verify', prepare: [prepareProduct, verify] },
  { name: 'unit', tests: 'test/unit', jobs: 2, hasGroups: true, coversCore: true },
  {
    name: 'integration',
    prepare: [prepareProduct],
    tests: 'test/integration',
    jobs: availableParallelism(),
    // Each file waits for a fifth of its time.
    jobsAlone: availableParallelism() + 1,
    hasLanes: true,
    isRepeated: true,
  },
  {
    name: 'e2e',
    // A scenario that tests another release on the cluster has installed it.
    prepare: sharedCluster ? [] : [['env', 'TINTYPE_SHORT_RETRIES=1', node, 'test/cluster/start.ts']],
    tests: 'test/e2e',
    // One by one: some replace the pods of the cluster, and some count events and records of the shared account. They wait for the cluster most of the
    // time, while the other stage uses the processors.
    jobs: 1,
    isBeside: true,
    isRepeated: true,
  },
]
/** tap's command. It loads modules into each test process, which only coverage needs. */
const TAP = 'node_modules/tap/dist/esm/run.mjs'
const PROSE_TEST = 'test/integration/docs/prose.test.ts'
/** Number of slowest files that are listed after a stage. */
const SLOWEST = 8
/** Maximum number of failed files to repeat. If more fail, something is broken and a repetition is useless. */
const MAX_REPEATED = 5

// Short processes spend most of their time on reading and compiling the same sources.
process.env.NODE_COMPILE_CACHE ??= path.resolve('.tintype/test/compile-cache')

const filesOf = ({ tests }: Stage): string[] => (tests === undefined ? [] : globSync(`${tests}/**/*.test.ts`).sort())
const staged = stages.flatMap(filesOf)
const { positionals, values: options } = readArguments()
const names = positionals.filter((name) => stages.some((stage) => stage.name === name))
const named = positionals.map((name) => path.normalize(name)).filter((name) => staged.includes(name))
const [base, ...unknown] = positionals.filter((name) => !names.includes(name) && !named.includes(path.normalize(name)))
if (unknown.length > 0 || (base !== undefined && !options.changed))
  refuse(`neither a stage nor a test file: ${[base, ...unknown].join(', ')}`)
if (options.find !== undefined) await listTests(options.find)
/** The selected test files. Undefined: all. */
const selected = options.changed ? await selectChanged(base) : named.length > 0 ? new Set(named) : undefined
const unrun = globSync('test/**/*.{test,spec}.{ts,tsx,mjs,js}', { exclude: ['**/node_modules'] }).filter((file) => !staged.includes(file))
if (unrun.length > 0) {
  console.error(
    `no stage runs ${unrun.join(', ')}. Move it to ${stages.flatMap(({ tests = [] }) => tests).join(', ')}, and name it *.test.ts`,
  )
  process.exit(1)
}
const isSelected = (file: string): boolean => selected?.has(file) ?? true
const chosen = stages
  .filter(({ name }) => names.length === 0 || names.includes(name))
  .filter((stage) => (stage.tests === undefined ? named.length === 0 : filesOf(stage).some(isSelected)))
const usesTool = (file: string): boolean => TOOL_USERS.some((pattern) => path.matchesGlob(file, pattern))
const toolUsers = chosen.flatMap(filesOf).filter((file) => isSelected(file) && usesTool(file))
// The prose test makes the prose check of `npm run verify`. It runs later, when Vale is built.
if (toolUsers.includes(PROSE_TEST) || !isSelected(PROSE_TEST)) verify.push('--no-prose')

function readArguments() {
  const [flag, text] = [{ type: 'boolean', default: false }, { type: 'string' }] as const
  try {
    return parseArgs({ allowPositionals: true, options: { changed: flag, times: flag, find: text } })
  } catch (error) {
    return refuse(error instanceof Error ? (error.message.split(/\. |\n/)[0] ?? '') : String(error))
  }
}

function refuse(problem: string): never {
  const known = stages.map(({ name }) => name).join('|')
  console.error(`${problem}. Usage: npm test -- [${known}|FILE…] [--changed [BASE]] [--times] [--find FILE]`)
  process.exit(2)
}

/** Prints the test files that a source file reaches, the nearest first, and ends. */
async function listTests(file: string): Promise<never> {
  const found = existsSync(file) ? await findTests(path.relative('', file)) : []
  console.log(found.length > 0 ? found.join('\n') : `no test reaches ${file}`)
  process.exit(found.length > 0 ? 0 : 1)
}

/** Prints what a change can reach. Resolves to the test files. */
async function selectChanged(base: string | undefined): Promise<ReadonlySet<string>> {
  try {
    const { changed, selection, commit } = await planChanged(base)
    const described = stages
      .filter(({ tests }) => tests)
      .map((stage) => ({ name: stage.name, files: filesOf(stage), jobs: stage.jobs ?? 1 }))
    console.log(`${changed.length} files differ from ${commit.slice(0, 10)}.`)
    for (const line of describeSelection(selection, described, readRecorded())) console.log(line)
    return new Set(selection.tests.keys())
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    console.error(error.message)
    process.exit(2)
  }
}

/** @param message what the process is told, and after what */
function run([command = '', ...args]: string[], output: number | 'inherit' = 'inherit', message?: Part['moreJobs']): Promise<number> {
  const child = spawn(command, args, { stdio: ['inherit', output, 'inherit', ...(message ? (['ipc'] as const) : [])] })
  message?.after.then(() => child.connected && child.send(message.jobs))
  return new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1)).on('error', () => resolve(1)))
}

/** Runs test files. Resolves to tap's output and exit code. */
async function runFiles(report: string, { files, jobs, moreJobs, hasCoverage, hasGroups }: Part): Promise<{ text: string; code: number }> {
  const groups = hasGroups ? groupFiles(files) : files.map((file) => [file])
  const code = hasCoverage
    ? // tap's reporters redraw for each assertion, which with thousands of them takes longer than the tests.
      await run([
        node,
        TAP,
        ...files,
        `--jobs=${jobs}`,
        '--timeout=300',
        ...COVERAGE_OPTIONS,
        `--output-file=${report}`,
        '--reporter=silent',
      ])
    : await runInto(report, [node, 'test/support/processes/run-files.ts', ...groups.map((group) => group.join()), String(jobs)], moreJobs)
  return { text: ungroup(readFileSync(report, 'utf8')), code }
}

/** Runs a command whose output is the content of a file. */
async function runInto(file: string, command: string[], message: Part['moreJobs']): Promise<number> {
  const output = openSync(file, 'w')
  try {
    return await run(command, output, message)
  } finally {
    closeSync(output)
  }
}

interface Result extends Totals {
  /** Output of tap. */
  text: string
  failedFiles: string[]
}

async function runPart(name: string, report: string, part: Part): Promise<Result> {
  if (part.needsTools) await tools?.wait()
  const follower = followFiles(name, part.files)
  const { text, code } = await runFiles(`.tintype/test/${report}.tap`, part)
  const printed = follower.stop()
  for (const failure of readFailures(text)) if (!printed.some((file) => failure.split('\n')[0]?.includes(file))) console.log(`\n${failure}`)
  const { passed, failed } = readTotals(text)
  // tap may exit with an error although no test failed, for example after a signal.
  return { text, passed, failed: code !== 0 && failed === 0 ? 1 : failed, failedFiles: readFailedFiles(text) }
}

/** Runs failed files once more, one at a time. A file that passes then is flaky. Resolves to the number of failures. */
async function runAgain(name: string, files: string[], text: string): Promise<number> {
  console.log(`\nrunning again alone: ${files.join(', ')}`)
  const { failed, failedFiles } = await runPart(name, `${name}-again`, { files, jobs: 1 })
  const failures = readFailures(text)
  for (const file of files.filter((each) => !failedFiles.includes(each)))
    flaky.set(file, failures.filter((failure) => failure.split('\n')[0]?.includes(file)).join('\n'))
  return failed
}

interface Outcome {
  stage: Stage
  results: Result[]
  /** Faults of the stage as a whole. */
  faults: string[]
}

/** Runs the test files of a stage. @param others what runs beside it */
async function runTests(stage: Stage, others: Promise<unknown> = Promise.resolve()): Promise<Outcome> {
  const { name, tests = '', jobs = 1, jobsAlone, hasGroups } = stage
  mkdirSync('.tintype/test', { recursive: true })
  const endLanes = stage.hasLanes ? await serveLanes() : undefined
  const files = filesOf(stage).filter(isSelected)
  const mustWait = files.some(usesTool) && !(await tools?.areBuilt())
  const coversCore = stage.coversCore && findCoreTests().every(isSelected)
  const parts = planParts(
    { files, jobs, ...(jobsAlone && { moreJobs: { jobs: jobsAlone, after: others } }), ...(hasGroups && { hasGroups }) },
    (file) => coversCore === true && isOfCore(file),
    (file) => mustWait && usesTool(file),
  )
  const results: Result[] = []
  for (const [index, part] of parts.entries()) results.push(await runPart(name, `${name}${index === 0 ? '' : `-${index + 1}`}`, part))
  await endLanes?.()
  const text = results.map((result) => result.text).join('\n')
  const faults = [...(coversCore ? findCoreGaps().map((gap) => `not covered: ${gap}`) : []), ...readFileFaults(text)]
  for (const fault of faults) console.log(`\nnot ok - ${fault}`)
  const durations = readDurations(text)
  writeFileSync(
    durationsFile,
    JSON.stringify({ ...readRecorded(), ...Object.fromEntries(durations.map(({ file, seconds }) => [file, seconds])) }),
  )
  const slowest = durations.slice(0, SLOWEST).map(({ file, seconds }) => `${path.relative(tests, file)} ${seconds.toFixed(0)} s`)
  console.log(`slowest of ${name}: ${slowest.join(', ')}`)
  return { stage, results, faults }
}

/** Repeats failed files, and adds up. */
async function finish({ stage: { name, isRepeated, hasLanes }, results, faults }: Outcome): Promise<Totals> {
  const failedFiles = results.flatMap((result) => result.failedFiles)
  const mayRepeat = isRepeated && failedFiles.length > 0 && failedFiles.length <= MAX_REPEATED
  const counted = mayRepeat ? results.filter((result) => result.failedFiles.length === 0) : results
  const endLanes = mayRepeat && hasLanes ? await serveLanes() : undefined
  const failedAgain = mayRepeat ? await runAgain(name, failedFiles, results.map(({ text }) => text).join('\n')) : 0
  await endLanes?.()
  return {
    passed: results.reduce((total, { passed }) => total + passed, 0),
    failed: counted.reduce((total, { failed }) => total + failed, faults.length + failedAgain),
  }
}

/** Files that failed and then passed alone, with their first failures. Each has a race condition, in the product or in the test. */
const flaky = new Map<string, string>()
let tools: BackgroundTools | undefined
const sum: Totals = { passed: 0, failed: 0 }
const groups: Stage[][] = []
for (const stage of chosen) {
  if (stage.isBeside) groups.at(-1)?.push(stage)
  if (!stage.isBeside || groups.length === 0) groups.push([stage])
}
const times = options.times ? followTimes() : undefined
for (const group of groups) {
  const name = group.map((stage) => stage.name).join(' and ')
  times?.beginStage(name)
  const started = performance.now()
  console.log(`\n== ${name}`)
  for (const command of group.flatMap(({ prepare = [] }) => prepare)) {
    if ((await run(command)) === 0) continue
    console.log(`\n${name}: \`${command.slice(1).join(' ')}\` failed\n${sum.passed} passed, ${sum.failed + 1} failed`)
    process.exit(1)
  }
  if (toolUsers.length > 0) tools ??= new BackgroundTools()
  const [first, ...beside] = group.filter(({ tests }) => tests)
  const others = Promise.all(beside.map((stage) => runTests(stage)))
  const outcomes = first ? [await runTests(first, others), ...(await others)] : []
  const totals: Totals = { passed: outcomes.length > 0 ? 0 : 1, failed: 0 }
  for (const outcome of outcomes) {
    const { passed, failed } = await finish(outcome)
    totals.passed += passed
    totals.failed += failed
  }
  sum.passed += totals.passed
  sum.failed += totals.failed
  console.log(`== ${name}: ${totals.passed} passed, ${totals.failed} failed, ${((performance.now() - started) / 1000).toFixed(0)} s`)
}
times?.end()
for (const [file, failures] of flaky) console.log(`\nflaky: ${file} failed, and then passed alone. Its first failures:\n${failures}`)
console.log(`\n${sum.passed} passed, ${sum.failed} failed`)
process.exit(sum.failed === 0 ? 0 : 1)
