import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { type FileCoverage, findGaps } from './coverage-gaps.ts'

// The files whose unit tests must cover every line, branch and function: decisions, quota arithmetic, capture plans and address rules.
// `tap --coverage-map` loads this file: only these tests collect coverage, and only of these files.

/** Tests of whole controllers that cover their decisions too. */
const WHOLE_CONTROLLERS = [
  ...['account/account', 'api-key/api-key', 'retention/archive', 'delivery/deliveries', 'delivery/flow', 'screenshot/captures'],
  ...[
    'delivery/flow-control',
    'pending/pending',
    'schedule/runs',
    'schedule/approvals',
    'schedule/policies',
    'webhook/limits',
    'webhook/webhooks',
  ],
]

/** Globs of source files, and of the tests that cover them. */
const PURE_CORE: readonly { sources: string; tests: string }[] = [
  { sources: 'crds/src/addresses/*.ts', tests: 'test/unit/crds/addresses/*.test.ts' },
  { sources: 'crds/src/policies/*.ts', tests: 'test/unit/crds/policies/*.test.ts' },
  { sources: 'crds/src/usage/*.ts', tests: 'test/unit/crds/usage/*.test.ts' },
  {
    sources: 'operator/src/**/decide.ts',
    tests: `test/unit/operator/{**/decide,controllers/{${WHOLE_CONTROLLERS.join()}}}.test.ts`,
  },
  {
    sources: 'api-gateway/src/quota/{call-limits,refusals,server-clock,write-round-robin}.ts',
    tests: 'test/unit/api-gateway/quota/{limits,server-clock,write-round-robin}.test.ts',
  },
  {
    sources: 'api-gateway/src/resources/files/{progress,shares}.ts',
    tests: 'test/unit/api-gateway/resources/files/{progress,shares}.test.ts',
  },
  { sources: 'api-gateway/client/src/link/canonical.ts', tests: 'test/unit/client/link/*.test.ts' },
  { sources: 'capture-runner/src/plan/*.ts', tests: 'test/unit/capture-runner/{plan/*,video/video}.test.ts' },
]

/** Options of tap that make the tests of the pure core collect coverage. */
export const COVERAGE_OPTIONS = ['--no-disable-coverage', '--coverage-map=test/support/sources/pure-core.ts', '--coverage-report=json']
const REPORT = '.tap/report/coverage-final.json'

/** Unit tests that cover the pure core. */
export const findCoreTests = (): string[] => PURE_CORE.flatMap(({ tests }) => globSync(tests)).sort()

/** True for a source file of the pure core, and for a test that covers it. */
export const isOfCore = (file: string): boolean =>
  PURE_CORE.some(({ sources, tests }) => path.matchesGlob(file, sources) || path.matchesGlob(file, tests))

/** The source files that a test file covers. Null: the test covers none, and runs without coverage. */
export default function mapCoverage(testFile: string): string[] | null {
  const row = PURE_CORE.find(({ tests }) => path.matchesGlob(path.relative('', testFile), tests))
  return row ? globSync(row.sources) : null
}

/** Reads tap's coverage report. Returns a line for each file of the pure core that is not fully covered. */
export function findCoreGaps(): string[] {
  const files = PURE_CORE.flatMap(({ sources }) => globSync(sources)).sort()
  const report = Object.entries<FileCoverage>(JSON.parse(readFileSync(REPORT, 'utf8')))
  return findGaps(Object.fromEntries(report.map(([file, coverage]) => [path.relative('', file), coverage])), files)
}
