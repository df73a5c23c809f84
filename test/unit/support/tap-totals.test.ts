import t from 'tap'
import { readFailures, readTotals } from '../../support/tap-totals.ts'

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

t.test('readTotals counts what passed and failed, not what was skipped', async (t) => {
  t.strictSame(readTotals(tap), { passed: 1, failed: 1 })
})

t.test('readTotals throws when no test ran', async (t) => {
  t.throws(() => readTotals('TAP version 14\n1..0\n# { total: 0 }\n'), /no test/)
  t.throws(() => readTotals(''), /no test/)
})

t.test('readFailures shows each failure with its diagnosis', async (t) => {
  t.strictSame(readFailures(tap), [
    'not ok - should be equal\n  diff: |\n    +4',
    'not ok - adds # time=3ms',
    'not ok - a.test.ts # time=5ms',
  ])
})
