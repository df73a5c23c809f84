import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { COVERAGE_OPTIONS, findCoreGaps, findCoreTests } from './support/sources/pure-core.ts'
import { readFailures, readTotals } from './support/sources/tap-totals.ts'

// `npm run coverage`: runs the unit tests of the pure core, which must cover all of it. The unit stage of `npm test` checks the same.

const report = '.tintype/test/coverage.tap'
mkdirSync('.tintype/test', { recursive: true })
const output = [`--output-file=${report}`, '--reporter=silent']
const options = [`--jobs=${availableParallelism()}`, '--timeout=300', ...output, ...COVERAGE_OPTIONS]
const { status } = spawnSync(process.execPath, ['node_modules/tap/dist/esm/run.mjs', ...findCoreTests(), ...options], { stdio: 'inherit' })
const text = readFileSync(report, 'utf8')
const gaps = findCoreGaps()
for (const line of [...readFailures(text), ...gaps]) console.log(line)
console.log(`${readTotals(text).passed} passed, ${readTotals(text).failed} failed, ${gaps.length} files not covered whole`)
process.exit(status === 0 && gaps.length === 0 ? 0 : 1)
