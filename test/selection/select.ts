/** Selects the test files that changed files can reach. */
import { posix } from 'node:path'
import type { Graph } from './graph.ts'

export interface ChangedFile {
  file: string
  isDeleted?: boolean
}

/** What the graph does not show. All are globs. */
export interface Rules {
  /** Files that every test needs. */
  everything: readonly string[]
  /** Files that no test needs. `npm run verify` may check them. */
  nothing: readonly string[]
  /** Files that need others without naming them. */
  edges: readonly { files: readonly string[]; need: readonly string[] }[]
  /**
   * Servers load all of a program, so each of its files reaches every test that starts the server. An area says which of these tests are about a file.
   * It applies to integration and end-to-end tests that do not name the file themselves. The first area that matches counts.
   */
  areas: readonly { sources: readonly string[]; tests: readonly string[] }[]
  /** Tests that run whenever an area leaves others out: they show that the programs start and capture. */
  basics: readonly string[]
}

export interface Selection {
  /** The selected test files, each with the reason. */
  tests: ReadonlyMap<string, string>
  /** Why all files were selected. */
  everythingFor?: string
  /** Files whose area left tests out, each with their number. */
  narrowed: ReadonlyMap<string, number>
}

/** Unit tests are quick, so no area leaves them out. */
const isUnit = (file: string): boolean => file.startsWith('test/unit/')
const matches = (file: string, globs: readonly string[]): boolean => globs.some((glob) => posix.matchesGlob(file, glob))

/** @param tests all test files */
export function selectTests(changed: readonly ChangedFile[], graph: Graph, rules: Rules, tests: readonly string[]): Selection {
  const selected = new Map<string, string>()
  const narrowed = new Map<string, number>()
  const isTest = new Set(tests)
  const needs = withEdges(graph, rules, tests)
  for (const { file, isDeleted = false } of changed) {
    if (matches(file, rules.everything)) return selectAll(tests, file)
    const reached = reach(file, needs, isTest)
    const isKnown = reached.size > 0 || isDeleted || matches(file, rules.nothing)
    if (!isKnown) return selectAll(tests, `${file}, which nothing is known to use`)
    const area = rules.areas.find(({ sources }) => matches(file, sources))
    const isKept = (test: string): boolean => {
      const isDirect = test === file || graph.get(file)?.has(test) === true
      return !area || isDirect || isUnit(test) || matches(test, area.tests) || matches(test, rules.basics)
    }
    const kept = [...reached].filter(([test]) => isKept(test))
    if (kept.length < reached.size) narrowed.set(file, reached.size - kept.length)
    for (const [test, via] of kept) if (!selected.has(test)) selected.set(test, reasonOf(file, via))
  }
  return { tests: selected, narrowed }
}

const selectAll = (tests: readonly string[], reason: string): Selection => ({
  tests: new Map(tests.map((test) => [test, reason])),
  everythingFor: reason,
  narrowed: new Map(),
})

/** The test files that a file reaches, each with the files on the shortest way to it. */
function reach(file: string, dependentsOf: (file: string) => Iterable<string>, isTest: ReadonlySet<string>): Map<string, string[]> {
  const ways = new Map<string, string[]>([[file, []]])
  // A map iterates over entries that are added meanwhile.
  for (const [current, way] of ways) {
    // No file imports a test. A file that reads the text of a test needs only that text.
    if (current !== file && isTest.has(current)) continue
    for (const next of dependentsOf(current)) if (!ways.has(next)) ways.set(next, [...way, next])
  }
  return new Map([...ways].filter(([reached]) => isTest.has(reached)))
}

function withEdges(graph: Graph, { edges }: Rules, tests: readonly string[]): (file: string) => Iterable<string> {
  const all = [...new Set([...tests, ...[...graph.values()].flatMap((files) => [...files])])]
  const declared = edges.map(({ files, need }) => ({ files: all.filter((file) => matches(file, files)), need }))
  return (file) => [...(graph.get(file) ?? []), ...declared.flatMap(({ files, need }) => (matches(file, need) ? files : []))]
}

function reasonOf(file: string, way: readonly string[]): string {
  const between = way.slice(0, -1)
  if (way.length === 0) return `${file} itself`
  if (between.length === 0) return file
  return `${file} by ${between.length > 2 ? `${between[0]} … ${between.at(-1)}` : between.join(', ')}`
}
