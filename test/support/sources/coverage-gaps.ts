// Reads coverage-final.json, tap's coverage report in Istanbul's format. V8 does not count statements, so each line counts as one.

interface Range {
  start: { line: number }
  end: { line: number }
}

/** Coverage of a file: ranges by key, and how often each was reached. */
export interface FileCoverage {
  statementMap: Readonly<Record<string, Range>>
  s: Readonly<Record<string, number>>
  branchMap: Readonly<Record<string, { locations: readonly Range[] }>>
  b: Readonly<Record<string, readonly number[]>>
  fnMap: Readonly<Record<string, { name: string; loc: Range }>>
  f: Readonly<Record<string, number>>
}

interface Counter {
  line: number
  count: number
}

const COUNTERS: Readonly<Record<string, (file: FileCoverage) => Counter[]>> = {
  'lines and statements': ({ statementMap, s }) =>
    Object.entries(s).map(([key, count]) => ({ line: statementMap[key]!.start.line, count })),
  branches: ({ branchMap, b }) =>
    Object.entries(b).flatMap(([key, counts]) =>
      counts.map((count, index) => ({ line: branchMap[key]!.locations[index]!.start.line, count })),
    ),
  functions: ({ fnMap, f }) => Object.entries(f).map(([key, count]) => ({ line: fnMap[key]!.loc.start.line, count })),
}

const includes = ({ start, end }: Range, line: number): boolean => start.line <= line && line <= end.line

/**
 * Where fields of classes get their first values, without functions. They run with the constructor, whose coverage counts. V8 rarely reports that
 * they did not run although methods of the instance did.
 */
function findInitializers({ fnMap }: FileCoverage): Range[] {
  const functions = Object.values(fnMap)
  return functions
    .filter(
      ({ name, loc }) =>
        name === '<instance_members_initializer>' && !functions.some((other) => other.name !== name && includes(loc, other.loc.start.line)),
    )
    .map(({ loc }) => loc)
}

/**
 * Returns a line for each file that is not fully covered, with its uncovered lines.
 * @param files paths that the report must contain; a missing file was loaded by no test
 */
export function findGaps(report: Readonly<Record<string, FileCoverage>>, files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const coverage = report[file]
    if (!coverage) return [`${file}: no test loads it`]
    const initializers = findInitializers(coverage)
    const isCounted = ({ line }: Counter) => !initializers.some((range) => includes(range, line))
    const gaps = Object.entries(COUNTERS).flatMap(([kind, toCounters]) => describeGap(kind, toCounters(coverage).filter(isCounted)))
    return gaps.length === 0 ? [] : [`${file}: ${gaps.join('; ')}`]
  })
}

function describeGap(kind: string, counters: readonly Counter[]): string[] {
  const missed = counters.filter(({ count }) => count === 0)
  if (missed.length === 0) return []
  const percent = Math.floor(1_000 * (1 - missed.length / counters.length)) / 10
  return [`${percent} % of ${kind}, not line ${[...new Set(missed.map(({ line }) => line))].join(', ')}`]
}
