/** What `npm test -- --changed` runs, and why. */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { repository } from '../cluster/host/state.ts'
import { findCoreTests, isOfCore } from '../support/sources/pure-core.ts'
import { toSource } from '../support/sources/source-files.ts'
import { findChanges, listFiles } from './changed-files.ts'
import { rules } from './edges.ts'
import { buildGraph, type Graph } from './graph.ts'
import { type ChangedFile, type Selection, selectTests } from './select.ts'

const TEST = /^test\/(?:unit|integration|e2e)\/.*\.test\.ts$/
const SOURCE = /\.(?:ts|tsx|mjs)$/
/** Number of reasons that are printed for a stage, and of narrowed files. */
const EXAMPLES = 3

/** Selects the tests for the changes since the merge base with `base`. @throws BaseError when git does not know the base */
export async function planChanged(base?: string): Promise<{ changed: ChangedFile[]; selection: Selection; commit: string }> {
  const [{ changed, commit }, files] = await Promise.all([findChanges(base), listFiles()])
  const deleted = changed.flatMap(({ file, isDeleted }) => (isDeleted ? [file] : []))
  return { changed, selection: selectFor(changed, files, readGraph(files, deleted)), commit }
}

/** Reads what needs what. `deleted` are files that may still be named. */
export function readGraph(files: readonly string[], deleted: readonly string[] = []): Graph {
  const sources = files.filter((file) => SOURCE.test(file)).map((file) => toSource(file, readFileSync(path.join(repository, file), 'utf8')))
  return buildGraph(sources, [...files, ...deleted])
}

/** Selects the tests for changed files. `files` are all files of the repository. */
export function selectFor(changed: readonly ChangedFile[], files: readonly string[], graph: Graph): Selection {
  const all = files.filter((file) => TEST.test(file))
  const selection = selectTests(changed, graph, rules, all)
  const core = changed.find(({ file }) => isOfCore(file))
  if (core === undefined) return selection
  // The coverage of the pure core is complete only with all of its tests.
  const covering = findCoreTests().map((test) => [test, `the coverage of ${core.file}`] as const)
  return { ...selection, tests: new Map([...covering, ...selection.tests]) }
}

/** The test files that a source file reaches, the nearest first: its mirror in test/unit, then by the number of files between. */
export async function findTests(file: string): Promise<string[]> {
  const files = await listFiles()
  const found = [...selectFor([{ file }], files, readGraph(files)).tests.keys()]
  const mirror = path.posix.join('test/unit', file.replace('/src/', '/').replace(/\.tsx?$/, '.test.ts'))
  return [...found.filter((test) => test === mirror), ...found.filter((test) => test !== mirror)]
}

/** Seconds that a test file took the last time, by its path. */
export type Durations = Readonly<Record<string, number>>
export const durationsFile = '.tintype/test/durations.json'
export const readRecorded = (): Durations => (existsSync(durationsFile) ? JSON.parse(readFileSync(durationsFile, 'utf8')) : {})

interface StageOfTests {
  name: string
  files: readonly string[]
  jobs: number
}

/** Lines that say what runs, the first reasons, and what is left out. */
export function describeSelection(
  { tests, everythingFor, narrowed }: Selection,
  stages: readonly StageOfTests[],
  durations: Durations,
): string[] {
  if (everythingFor !== undefined) return [`everything runs, because of ${everythingFor}`]
  const lines = stages.flatMap(({ name, files, jobs }) => {
    const chosen = files.filter((file) => tests.has(file))
    const time = estimate(chosen, durations, jobs)
    const heading = `${name}: ${chosen.length} of ${files.length} files${time === undefined ? '' : `, about ${formatMinutes(time)} by the last runs`}`
    const reasons = new Map<string, number>()
    for (const file of chosen) reasons.set(tests.get(file) ?? '', (reasons.get(tests.get(file) ?? '') ?? 0) + 1)
    const first = [...reasons].sort(([, a], [, b]) => b - a).slice(0, EXAMPLES)
    const more = reasons.size > EXAMPLES ? [`  … and ${reasons.size - EXAMPLES} more reasons`] : []
    return [heading, ...first.map(([reason, count]) => `  ${count} for ${reason}`), ...more]
  })
  const most = [...narrowed].sort(([, a], [, b]) => b - a)
  if (most.length > 0) {
    lines.push(`left out: tests that a change reaches only because a server loads all files of its program (test/selection/edges.ts):`)
    lines.push(...most.slice(0, EXAMPLES).map(([file, count]) => `  ${count} for ${file}`))
    if (most.length > EXAMPLES) lines.push(`  … and tests for ${most.length - EXAMPLES} more files`)
  }
  return lines
}

/** Seconds that files take when `jobs` of them run at the same time. Undefined if a tenth of them has no record. */
export function estimate(files: readonly string[], durations: Durations, jobs: number): number | undefined {
  const known = files.flatMap((file) => durations[file] ?? [])
  if (known.length < files.length * 0.9 || known.length === 0) return undefined
  const sum = (known.reduce((total, seconds) => total + seconds, 0) * files.length) / known.length
  return Math.max(sum / jobs, ...known)
}

const formatMinutes = (seconds: number): string => (seconds < 60 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} min`)
