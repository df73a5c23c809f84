import t from 'tap'
import { readDurations, readFailedFiles, readFailures, readTotals } from '../../../support/sources/tap-totals.ts'

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
