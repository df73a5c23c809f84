import t from 'tap'
import { describeProgress, readFinished } from '../../../support/sources/progress.ts'

const failed = `TAP version 14
# Subtest: adds
    not ok 1 - should be equal
      ---
      diff: |
        +4
      ...
    1..1
    # time=1ms
not ok 1 - adds # time=3ms

1..1
# time=5.5ms
`

t.test('readFinished returns the failures of a file that has ended', async (t) => {
  t.strictSame(readFinished('a.test.ts', failed), [
    'not ok - should be equal (a.test.ts)\n  diff: |\n    +4',
    'not ok - adds # time=3ms (a.test.ts)',
  ])
  t.strictSame(readFinished('a.test.ts', 'TAP version 14\nok 1 - adds # time=3ms\n\n1..1\n# time=5ms\n'), [])
})

t.test('readFinished returns nothing for a file that still runs', async (t) => {
  t.equal(readFinished('a.test.ts', failed.slice(0, failed.lastIndexOf('1..1'))), undefined)
  t.equal(readFinished('a.test.ts', ''), undefined)
})

t.test('describeProgress says how many files are done, and which failed', async (t) => {
  t.equal(describeProgress('unit', { total: 9, done: 2, failed: [], seconds: 31.2 }), 'unit: 2 of 9 files done after 31 s')
  t.equal(
    describeProgress('integration', { total: 174, done: 57, failed: ['a.test.ts', 'b.test.ts'], seconds: 725 }),
    'integration: 57 of 174 files done after 12 min 05 s; failed: a.test.ts, b.test.ts',
  )
})
