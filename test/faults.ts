// `npm run faults`: plants faults in the product, one at a time, and shows which tests find them (mutation testing).
//
//   npm run faults -- line FILE:LINE                plants the faults of one line
//   npm run faults -- draw SEED                     writes the list: test/faults.md
//   npm run faults -- run COLUMN                    plants each fault of the list in turn, and writes the results of unit tests to a column
//   npm run faults -- run COLUMN --integration      does the same with the integration tests, for the faults that no unit test of the column found
//     --limit SECONDS                               only those that come first, as many as take this time. It also ends a run of `changed`
//   npm run faults -- changed SEED                  draws ten commits, changes their files, plants a fault in one, and runs `npm test -- --changed`
//     --from COMMIT                                 draws from the history of this commit, so that a later command draws the same
//
// A fault changes the file in this checkout, so use a worktree of its own, in which nothing else runs. Before `--integration`, run
// `node test/prepare.ts --product`.
//
// A fault runs against the test files that its file reaches, some at the same time, until one fails: the nearest unit test files first, and those
// integration test files first that are near and short. For their durations, copy .tintype/test/durations.json of a checkout that has run `npm test`. A file
// that fails runs again alone, with and without the fault. A fault can make a file wait or loop for ever, so a file has a limit of time, and all that
// it started is killed when it ends.
//
// Each result is written at once. Stop the command with Ctrl-C, or kill it: the next run removes the fault that is left, and continues.

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findTests, readRecorded } from './selection/plan.ts'
import { type Group, groupFiles, leavesProcessAlone } from './support/groups/group.ts'
import { LANES_VARIABLE } from './support/lanes/lane.ts'
import { serveLanes } from './support/lanes/lane-servers.ts'

interface Fault {
  area: string
  file: string
  /** Number of the line when the fault was drawn, from 1. */
  line: number
  before: string
  after: string
}

/** Number of faults, and the folders that they are drawn from. */
const AREAS: Readonly<Record<string, { count: number; globs: readonly string[] }>> = {
  deliveries: { count: 13, globs: ['operator/src/controllers/{delivery,webhook}/**/*.ts', 'crds/src/webhooks/**/*.ts'] },
  'quota controller': { count: 7, globs: ['operator/src/controllers/quota/**/*.ts'] },
  retention: { count: 8, globs: ['operator/src/controllers/retention/**/*.ts'] },
  screenshots: { count: 8, globs: ['operator/src/controllers/{screenshot,pending,schedule}/**/*.ts'] },
  caches: { count: 7, globs: ['crds/client/*.ts', 'operator/src/{kube,controller-runtime}/*.ts'] },
  REST: { count: 7, globs: ['api-gateway/src/resources/{webhooks,deliveries,schedules,keys,screenshots}/**/*.ts'] },
  validation: { count: 9, globs: ['crds/src/{options,schema,schedule}/**/*.ts', 'api-gateway/src/{creation,options,bodies}/**/*.ts'] },
  egress: { count: 9, globs: ['capture-runner/src/egress/**/*.ts', 'crds/src/addresses/**/*.ts'] },
  quota: { count: 8, globs: ['api-gateway/src/quota/**/*.ts', 'crds/src/usage/**/*.ts'] },
  dispatch: { count: 8, globs: ['operator/src/{scheduling,runner}/**/*.ts', 'crds/src/dispatch/**/*.ts'] },
  comparison: { count: 8, globs: ['capture-runner/src/{comparison,picture}/**/*.ts'] },
  runner: { count: 8, globs: ['capture-runner/src/{server,runtime,capture,browser,requests}/**/*.ts'] },
}

/** Each rule changes one place of a line. */
const RULES: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [/ === /g, () => ' !== '],
  [/ !== /g, () => ' === '],
  [/ && /g, () => ' || '],
  [/ \|\| /g, () => ' && '],
  [/ < (?=[\w(-])/g, () => ' <= '],
  [/ > (?=[\w(-])/g, () => ' >= '],
  [/ <= /g, () => ' < '],
  [/ >= /g, () => ' > '],
  [/\btrue\b/g, () => 'false'],
  [/\bfalse\b/g, () => 'true'],
  [/ \+ /g, () => ' - '],
  [/ - /g, () => ' + '],
  [/(?<=[(\s])!(?=[\w(])/g, () => ''],
  [/(?<=[\s([:])\d[\d_]*(?=[\s),;\]]|$)/g, (number) => change(Number(number.replaceAll('_', '')))],
  [/(?<=^\s*(?:\} else )?if \().*(?=\)(?: |$))/g, (condition) => `!(${condition})`],
  [/^\s+(?:await |void )?[\w.#]+\([^{}]*\)$/g, (call) => call.replace(/\S.*/, ';')],
  [/\?\? /g, () => '&& '],
]

/** A number of milliseconds that is larger by one is hardly a fault. */
const change = (number: number): string => String(number < 100 ? number + 1 : number * 10)
/** True if a place of a line is in a text. */
const isInText = (line: string, at: number): boolean => (line.slice(0, at).match(/(?<!\\)['"`]/g) ?? []).length % 2 === 1

/** A generator of numbers from 0 to 1 that a seed determines (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function compile(text: string): string | undefined {
  try {
    return stripTypeScriptTypes(text).replaceAll(/\s+/g, ' ')
  } catch {
    return undefined
  }
}

/** All faults of a file that change what runs. */
function faultsOf(area: string, file: string): Fault[] {
  const text = readFileSync(file, 'utf8')
  const lines = text.split('\n')
  const compiled = compile(text)
  return lines.flatMap((before, at) => {
    if (/^\s*(?:\/?\*|\/\/|import |export (?:type|interface))/.test(before)) return []
    return RULES.flatMap(([pattern, changeOf]) =>
      [...before.matchAll(pattern)].flatMap((found) => {
        if (isInText(before, found.index)) return []
        const after = before.slice(0, found.index) + changeOf(found[0]) + before.slice(found.index + found[0].length)
        const result = compile(lines.with(at, after).join('\n'))
        return result === undefined || result === compiled ? [] : [{ area, file, line: at + 1, before, after }]
      }),
    )
  })
}

function draw(seed: number): Fault[] {
  const random = seeded(seed)
  return Object.entries(AREAS).flatMap(([area, { count, globs }]) => {
    const files = globSync([...globs]).sort()
    const all = files.flatMap((file) => faultsOf(area, file))
    return Array.from({ length: count }, () => all.splice(Math.floor(random() * all.length), 1)).flat()
  })
}

const LIST = 'test/faults.md'
const HEAD = `# Planted faults

\`npm run faults -- draw 58\` drew these faults by rule and seed. \`npm run faults -- run COLUMN\` plants each, and writes the first test file that fails:
unit tests that reach the file, then, with \`--integration\`, integration tests. "no unit test" is a fault that no unit test finds.`
const cell = (text: string): string => `\`${text.trim().replaceAll('|', '\\|')}\``
const uncell = (text: string): string => text.slice(1, -1).replaceAll('\\|', '|')
interface Row {
  fault: Fault
  results: string[]
}
const split = (row: string): string[] =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((each) => each.trim())

function readList(): { head: string; columns: string[]; rows: Row[] } {
  const text = readFileSync(LIST, 'utf8')
  const start = text.indexOf('| Area |')
  const [titles = '', , ...rows] = text.slice(start).trim().split('\n')
  return {
    head: text.slice(0, start),
    columns: split(titles).slice(4),
    rows: rows.map((row) => {
      const [area = '', place = '', before = '', after = '', ...results] = split(row)
      const [file = '', line = ''] = place.split(':')
      return { fault: { area, file, line: Number(line), before: uncell(before), after: uncell(after) }, results }
    }),
  }
}

function writeList(head: string, columns: readonly string[], rows: readonly Row[]): void {
  const titles = ['Area', 'Place', 'Line', 'Fault', ...columns]
  const lines = rows.map(({ fault: { area, file, line, before, after }, results }) => [
    ...[area, `${file}:${line}`, cell(before), cell(after)],
    ...columns.map((_, at) => results[at] ?? ''),
  ])
  const table = [titles, titles.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |`).join('\n')
  writeFileSync(LIST, `${head}${table}\n`)
}

/** The planted fault, for the next run if this one is killed. */
const PLANTED = '.tintype/test/planted-fault.json'

/** Writes a fault into its file, at the nearest line with the same text. Returns a function that removes it, or undefined if no such line is left. */
function plant({ file, line, before, after }: Fault): (() => void) | undefined {
  const text = readFileSync(file, 'utf8')
  const lines = text.split('\n')
  const [at] = lines
    .flatMap((each, index) => (each.trim() === before ? [index] : []))
    .sort((a, b) => Math.abs(a + 1 - line) - Math.abs(b + 1 - line))
  if (at === undefined) return undefined
  const indent = /^\s*/.exec(lines[at] ?? '')?.[0] ?? ''
  const planted = lines.with(at, indent + after).join('\n')
  mkdirSync(path.dirname(PLANTED), { recursive: true })
  writeFileSync(PLANTED, JSON.stringify({ file, text, planted }))
  writeFileSync(file, planted)
  return removePlanted
}

function removePlanted(): void {
  if (!existsSync(PLANTED)) return
  const { file, text, planted } = JSON.parse(readFileSync(PLANTED, 'utf8'))
  if (readFileSync(file, 'utf8') === planted) writeFileSync(file, text)
  rmSync(PLANTED)
}

const INTEGRATION = 'test/integration/'
const durations = readRecorded()
const secondsOf = (file: string): number => Math.ceil(durations[file] ?? (file.startsWith(INTEGRATION) ? 90 : 5))
/** The seconds after which test files of a process count as failed. */
const limitOf = (files: Group): number => files.reduce((seconds, file) => seconds + 3 * secondsOf(file), 60)

/** Every process that a test file starts has this variable. Some are in a process group of their own, as browsers are. */
const MARK = 'TINTYPE_FAULTS_RUN'

/** Kills the processes whose file in /proc is meant. */
function killWhere(name: 'environ' | 'cmdline', isMeant: (text: string) => boolean): void {
  for (const file of globSync(`/proc/[0-9]*/${name}`))
    try {
      if (isMeant(readFileSync(file, 'utf8'))) process.kill(Number(file.split('/')[2]), 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
}

/** Kills the processes of a test file, also those that outlived it. */
const killAll = (mark: string): void => killWhere('environ', (text) => text.includes(`${MARK}=${mark}`))

/** Kills operators, gateways and other programs that ended tests left running, because their environment is their own. No test may run meanwhile. */
const killPrograms = (): void => killWhere('cmdline', (text) => text.split('\0')[1]?.startsWith(`${process.cwd()}/`) === true)

interface Place {
  /** Number of the lane whose API server the files use. Without it, they start their own. */
  lane?: number
  /** Ends the files early. They count as failed. */
  signal?: AbortSignal
}

const environment = { NODE_COMPILE_CACHE: path.resolve('.tintype/test/compile-cache'), ...process.env }
const running = new Set<string>()

/** Runs test files in one process. Resolves to true if all pass. */
async function passes(files: Group, { lane, signal }: Place = {}): Promise<boolean> {
  const [limit, mark] = [limitOf(files), randomUUID()]
  const ofLane = lane === undefined ? {} : { TAP_JOB_ID: String(lane), [LANES_VARIABLE]: process.env[LANES_VARIABLE] }
  const env = { ...environment, ...ofLane, TAP_TIMEOUT: String(limit), [MARK]: mark }
  const command = files.length === 1 ? files : ['test/support/groups/run-group.ts', ...files]
  const { promise, resolve } = Promise.withResolvers<boolean>()
  running.add(mark)
  const timing = { timeout: (limit + 15) * 1_000, killSignal: 'SIGKILL', ...(signal && { signal }) } as const
  // An error is the end by the signal.
  spawn(process.execPath, command, { stdio: 'ignore', env, ...timing })
    .on('exit', (code) => resolve(code === 0))
    .on('error', () => {})
  const isGood = await promise
  killAll(mark)
  running.delete(mark)
  return isGood
}

/** Runs groups, some at the same time, until one fails. Removes from the queue those that have passed, and the one that failed, which it returns. */
async function runUntilFailure(queue: Group[], jobs: number): Promise<Group | undefined> {
  const [waiting, stop] = [[...queue], new AbortController()]
  let failed: Group | undefined
  const work = async (lane: number): Promise<void> => {
    for (let group = waiting.shift(); group && !failed; group = waiting.shift()) {
      const isGood = await passes(group, { lane, signal: stop.signal })
      if (failed) return
      if (!isGood) failed = group
      queue.splice(queue.indexOf(group), 1)
      if (!isGood) stop.abort()
    }
  }
  await Promise.all(Array.from({ length: jobs }, (_, lane) => work(lane)))
  return failed
}

/** Number of unit test files that run alone first. */
const NEAREST = 12
/** Files that have passed without a fault. */
const sound = new Set<string>()

/**
 * The first test file that fails with a fault, of files that are tried in this order. A file that also fails without the fault proves nothing.
 * @returns `no such line` if the code has changed
 */
async function findFailing(fault: Fault, queue: Group[], jobs: number): Promise<string | undefined> {
  if (!plant(fault)) return 'no such line'
  try {
    for (let failed = await runUntilFailure(queue, jobs); failed; failed = await runUntilFailure(queue, jobs))
      for (const file of failed) {
        if (await passes([file])) continue
        removePlanted()
        if (sound.has(file) || (await passes([file]))) {
          sound.add(file)
          return file
        }
        plant(fault)
      }
    return undefined
  } finally {
    removePlanted()
    killPrograms()
  }
}

const SURVIVED = 'no unit test'
async function run(column: string, isIntegration: boolean): Promise<void> {
  const { columns, rows } = readList()
  const at = columns.indexOf(column)
  if (at < 0) throw new Error(`${LIST} has no column ${column}. Add it to the heading of the table.`)
  for (const [number, { fault, results }] of rows.entries()) {
    if (isIntegration ? results[at] !== SURVIVED : (results[at] ?? '') !== '') continue
    const started = performance.now()
    const found = await findTest(fault, isIntegration ? INTEGRATION : 'test/unit/')
    const result = found ?? (isIntegration ? 'none' : SURVIVED)
    const list = readList()
    const row = list.rows[number]
    if (row) row.results[at] = result
    writeList(list.head, list.columns, list.rows)
    console.log(`${number + 1}. ${fault.file}:${fault.line} ${result} ${((performance.now() - started) / 1_000).toFixed(0)} s`)
  }
}

/** Unit test files that allow it share a process, except for the nearest. */
const unitGroups = (tests: readonly string[]): Group[] => [
  ...tests.slice(0, NEAREST).map((file) => [file]),
  ...groupFiles(tests.slice(NEAREST), leavesProcessAlone),
]
/** A file that is twice as far away is half as likely to fail. */
function integrationGroups(tests: readonly string[]): Group[] {
  const sorted = tests.map((file, rank) => ({ file, cost: (rank + 1) * secondsOf(file) })).sort((a, b) => a.cost - b.cost)
  let seconds = 0
  return sorted.flatMap(({ file }, at) => {
    seconds += secondsOf(file)
    return at === 0 || seconds <= limit ? [[file]] : []
  })
}

/** A near test file below a folder that finds a fault: `unit/crds/client/lister`. */
async function findTest(fault: Fault, folder: 'test/unit/' | typeof INTEGRATION): Promise<string | undefined> {
  const tests = (await findTests(fault.file)).filter((file) => file.startsWith(folder))
  const isIntegration = folder === INTEGRATION
  // Integration tests wait half of the time.
  const jobs = availableParallelism() + (isIntegration ? 1 : 0)
  const found = await findFailing(fault, isIntegration ? integrationGroups(tests) : unitGroups(tests), jobs)
  return found?.replace(/^test\//, '').replace(/\.test\.ts$/, '')
}

/** Plants each fault of a line, and prints the unit test that finds it. */
async function tryLine(place: string): Promise<void> {
  const [file = '', line] = place.split(':')
  const faults = faultsOf('', file).filter((fault) => fault.line === Number(line))
  if (faults.length === 0) console.log('no rule changes this line')
  for (const fault of faults) {
    const found = await findTest({ ...fault, before: fault.before.trim(), after: fault.after.trim() }, 'test/unit/')
    console.log(`${fault.after.trim()}\n  ${found ?? SURVIVED}`)
  }
}

const PRODUCT = /^(?:operator|api-gateway|capture-runner|crds)\/(?:src|client)\/.*\.ts$/
const git = (...args: string[]): string[] => execFileSync('git', args, { encoding: 'utf8' }).trim().split('\n')

/** For ten commits, changes the product files that each changed, negates a condition in one, and runs what `npm test -- --changed` selects. */
function tryChanged(seed: number): void {
  if (git('status', '--porcelain', '--untracked-files=no')[0] !== '') {
    console.error('commit or stash your changes first: this command checks files out again')
    process.exit(2)
  }
  const random = seeded(seed)
  const pick = <T>(all: T[]): T | undefined => all.splice(Math.floor(random() * all.length), 1)[0]
  const commits = git('log', '--no-merges', '--format=%H', values.from)
  for (let count = 0; count < 10 && commits.length > 0; ) {
    const commit = pick(commits) ?? ''
    const files = git('show', '--name-only', '--format=', commit).filter((file) => PRODUCT.test(file) && existsSync(file))
    const fault = pick(files.flatMap((file) => faultsOf('', file)).filter(({ after }) => /^\s*(?:\} else )?if \(!\(/.test(after)))
    if (fault === undefined) continue
    count++
    for (const file of files) writeFileSync(file, `${readFileSync(file, 'utf8')}// changed\n`)
    plant({ ...fault, before: fault.before.trim(), after: fault.after.trim() })
    const started = performance.now()
    // Without `verify`, because the compiler rejects many negated conditions.
    const args = ['test/run.ts', 'unit', 'integration', 'e2e', '--changed', 'HEAD']
    const mark = randomUUID()
    const options = { encoding: 'utf8', maxBuffer: 2 ** 28, env: { ...process.env, [MARK]: mark }, timeout: limit * 1_000 } as const
    const { status, stdout } = spawnSync(process.execPath, args, options)
    killAll(mark)
    killPrograms()
    const seconds = ((performance.now() - started) / 1_000).toFixed(0)
    removePlanted()
    git('checkout', '--quiet', '--', ...files)
    const found = /^not ok - .*?(test\/\S+?\.test\.ts)/m.exec(stdout)?.[1] ?? 'not found'
    console.log(`${commit.slice(0, 10)}, ${files.length} files, ${fault.file}:${fault.line}: ${found}, status ${status}, ${seconds} s`)
  }
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { integration: { type: 'boolean', default: false }, from: { type: 'string', default: 'HEAD' }, limit: { type: 'string' } },
})
const [command, argument] = positionals
const limit = Number(values.limit ?? 86_400)
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    for (const mark of running) killAll(mark)
    killPrograms()
    removePlanted()
    process.exit(130)
  })
removePlanted()
if (command === 'draw') {
  const rows = draw(Number(argument)).map((fault) => ({ fault, results: [] }))
  writeList(`${HEAD}\n\n`, [], rows)
} else if (command === 'run' && argument !== undefined) {
  const endLanes = values.integration ? await serveLanes() : undefined
  await run(argument, values.integration).finally(endLanes)
} else if (command === 'line' && argument !== undefined) await tryLine(argument)
else if (command === 'changed' && argument !== undefined) tryChanged(Number(argument))
else {
  console.error('usage: npm run faults -- line FILE:LINE | draw SEED | run COLUMN [--integration] | changed SEED [--from COMMIT]')
  process.exit(2)
}
