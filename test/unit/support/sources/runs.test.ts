import t from 'tap'
import { type FileCoverage, findGaps } from '../../../support/sources/coverage-gaps.ts'
import { readDurations, readFailedFiles, readFailures, readTotals } from '../../../support/sources/tap-totals.ts'
import { planParts } from '../../../support/sources/test-parts.ts'

const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c/d.test.ts', 'test/c/e.test.ts']

t.test('planParts runs the files that measure coverage first, and those that wait for a tool last', async (t) => {
  const never = () => false
  const isInFolder = (file: string) => file.startsWith('test/c/')
  const stage = { files, jobs: 2, hasGroups: true } as const
  t.strictSame(planParts(stage, never, never), [stage])
  t.strictSame(
    planParts(stage, isInFolder, (file) => /[ad]\.test/.test(file)),
    [
      { ...stage, files: ['test/c/d.test.ts', 'test/c/e.test.ts'], hasCoverage: true },
      { ...stage, files: ['test/b.test.ts'] },
      { ...stage, files: ['test/a.test.ts'], needsTools: true },
    ],
  )
  t.strictSame(planParts({ ...stage, files: [] }, never, never), [])
})

const tap = `TAP version 14
# Subtest: a.test.ts
    # Subtest: adds
        not ok 1 - should be equal
          ---
          diff: |
            +4
          ...
        1..1
    not ok 1 - adds # time=3ms
    1..1
not ok 1 - a.test.ts # time=5ms
# { total: 3, pass: 1, fail: 1, skip: 1 }
# time=9ms
`

t.test('readTotals counts passed and failed assertions without skipped ones', async (t) => {
  t.strictSame(readTotals(tap), { passed: 1, failed: 1 })
})

t.test('readTotals throws when no test ran', async (t) => {
  t.throws(() => readTotals('TAP version 14\n1..0\n# { total: 0 }\n'), /no test/)
  t.throws(() => readTotals(''), /no test/)
})

t.test('readFailures returns each failure with its file and diagnosis', async (t) => {
  t.strictSame(readFailures(tap), [
    'not ok - should be equal (a.test.ts)\n  diff: |\n    +4',
    'not ok - adds # time=3ms (a.test.ts)',
    'not ok - a.test.ts # time=5ms',
  ])
})

t.test('readFailedFiles returns only files, without the tests in them', async (t) => {
  t.strictSame(readFailedFiles(`${tap}ok 2 - b.test.ts # time=2s\nnot ok 3 - c.test.ts # time=900s\n`), ['a.test.ts', 'c.test.ts'])
})

t.test('readDurations returns the seconds of each file, the slowest first', async (t) => {
  t.strictSame(readDurations(`${tap}ok 2 - b.test.ts # time=2s\nok 3 - c.test.ts # time=1500ms\n`), [
    { file: 'b.test.ts', seconds: 2 },
    { file: 'c.test.ts', seconds: 1.5 },
    { file: 'a.test.ts', seconds: 0.005 },
  ])
})

const at = (line: number, last = line) => ({ start: { line }, end: { line: last } })
const whole: FileCoverage = {
  statementMap: { 0: at(1), 1: at(2), 2: at(3) },
  s: { 0: 1, 1: 1, 2: 1 },
  branchMap: { 0: { locations: [at(1)] }, 1: { locations: [at(2), at(3)] } },
  b: { 0: [1], 1: [4, 1] },
  fnMap: { 0: { name: 'a', loc: at(2) } },
  f: { 0: 4 },
}

t.test('findGaps returns nothing for a fully covered file', async (t) => {
  t.strictSame(findGaps({ 'a.ts': whole }, ['a.ts']), [])
})

t.test('findGaps names the uncovered lines, branches and functions of a file', async (t) => {
  const partly = { ...whole, s: { 0: 1, 1: 0, 2: 0 }, b: { 0: [1], 1: [4, 0] }, f: { 0: 0 } }
  t.strictSame(findGaps({ 'a.ts': whole, 'b.ts': partly }, ['a.ts', 'b.ts']), [
    'b.ts: 33.3 % of lines and statements, not line 2, 3; 66.6 % of branches, not line 3; 0 % of functions, not line 2',
  ])
})

t.test('first values of fields are no gap, functions among them are', async (t) => {
  const fields = { name: '<instance_members_initializer>', loc: at(2, 3) }
  const missed = { ...whole, s: { 0: 1, 1: 0, 2: 0 }, b: { 0: [1], 1: [0, 1] }, f: { 0: 0 } }
  t.strictSame(findGaps({ 'a.ts': { ...missed, fnMap: { 0: fields } } }, ['a.ts']), [])
  const withFunction = { ...missed, fnMap: { 0: fields, 1: { name: 'onEnd', loc: at(3) } }, f: { 0: 1, 1: 0 } }
  t.match(findGaps({ 'a.ts': withFunction }, ['a.ts']), [/50 % of functions, not line 3$/])
})

t.test('findGaps names a file that no test loads', async (t) => {
  t.strictSame(findGaps({}, ['a.ts']), ['a.ts: no test loads it'])
})
