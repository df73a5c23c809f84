import t from 'tap'
import { keepSelected, moveToolUsers, planParts, separateCoverage } from '../../../support/sources/test-parts.ts'

const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c/d.test.ts', 'test/c/e.test.ts']

t.test('planParts runs files in parallel, and the exclusive ones afterwards one by one', async (t) => {
  t.strictSame(planParts(files, { jobs: 3 }), [{ files, jobs: 3 }])
  t.strictSame(planParts(files, { jobs: 3, alone: ['test/c/*', 'test/a.test.ts'] }), [
    { files: ['test/b.test.ts'], jobs: 3 },
    { files: ['test/a.test.ts', 'test/c/d.test.ts', 'test/c/e.test.ts'], jobs: 1 },
  ])
  t.strictSame(planParts(files, { jobs: 3, alone: ['test/**'] }), [{ files, jobs: 1 }])
  t.strictSame(planParts(files, { jobs: 2, hasGroups: true }), [{ files, jobs: 2, hasGroups: true }])
})

t.test('planParts throws when a file of `alone` does not exist', async (t) => {
  t.throws(() => planParts(files, { jobs: 2, alone: ['test/a'] }), /test\/a/)
})

t.test('keepSelected keeps the chosen files of each part, and no empty part', async (t) => {
  const parts = planParts(files, { jobs: 3, alone: ['test/c/*'] })
  t.strictSame(
    keepSelected(parts, (file) => file === 'test/b.test.ts'),
    [{ files: ['test/b.test.ts'], jobs: 3 }],
  )
  t.strictSame(
    keepSelected(parts, () => false),
    [],
  )
})

t.test('moveToolUsers runs the files that need tools after all others', async (t) => {
  const parts = planParts(files, { jobs: 3, alone: ['test/c/*'] })
  t.strictSame(
    moveToolUsers(parts, (file) => file.endsWith('a.test.ts') || file.endsWith('d.test.ts')),
    [
      { files: ['test/b.test.ts'], jobs: 3 },
      { files: ['test/c/e.test.ts'], jobs: 1 },
      { files: ['test/a.test.ts'], jobs: 3, needsTools: true },
      { files: ['test/c/d.test.ts'], jobs: 1, needsTools: true },
    ],
  )
})

t.test('separateCoverage runs the files that measure coverage first, because only they need the modules of tap', async (t) => {
  t.strictSame(
    separateCoverage(planParts(files, { jobs: 2 }), (file) => file.startsWith('test/c/')),
    [
      { files: ['test/c/d.test.ts', 'test/c/e.test.ts'], jobs: 2, hasCoverage: true },
      { files: ['test/a.test.ts', 'test/b.test.ts'], jobs: 2 },
    ],
  )
})
