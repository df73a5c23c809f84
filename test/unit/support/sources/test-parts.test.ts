import t from 'tap'
import { planParts } from '../../../support/sources/test-parts.ts'

const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c/d.test.ts', 'test/c/e.test.ts']

t.test('planParts runs files in parallel, and the exclusive ones afterwards one by one', async (t) => {
  t.strictSame(planParts(files, { jobs: 3 }), [{ files, jobs: 3 }])
  t.strictSame(planParts(files, { jobs: 3, alone: ['test/c/*', 'test/a.test.ts'] }), [
    { files: ['test/b.test.ts'], jobs: 3 },
    { files: ['test/a.test.ts', 'test/c/d.test.ts', 'test/c/e.test.ts'], jobs: 1 },
  ])
  t.strictSame(planParts(files, { jobs: 3, alone: ['test/**'] }), [{ files, jobs: 1 }])
})

t.test('planParts throws when a file of `alone` does not exist', async (t) => {
  t.throws(() => planParts(files, { jobs: 2, alone: ['test/a'] }), /test\/a/)
})
