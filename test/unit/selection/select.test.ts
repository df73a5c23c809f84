import { existsSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { repository } from '../../cluster/host/state.ts'

import { rules } from '../../selection/edges.ts'
import { describeSelection, estimate, readGraph, selectFor } from '../../selection/plan.ts'
import { type Rules, selectTests } from '../../selection/select.ts'
import { assertEvery } from '../../support/accepts.ts'
import { readRepositoryFiles } from '../../support/sources/repository-files.ts'

const UNIT = 'test/unit/operator/decide.test.ts'
const NEAR = 'test/integration/schedules/runs.test.ts'
const FAR = 'test/integration/links/links.test.ts'
const DIRECT = 'test/integration/crds/times.test.ts'
const CLUSTER = 'test/e2e/take.test.ts'
const TESTS = [UNIT, NEAR, FAR, DIRECT, CLUSTER]

const graph = new Map([
  ['operator/src/schedule/decide.ts', new Set([UNIT, 'operator/src/main.ts', DIRECT])],
  ['operator/src/main.ts', new Set(['test/support/program.ts'])],
  ['test/support/program.ts', new Set([NEAR, FAR])],
])
const plain: Rules = { everything: ['package.json'], nothing: ['LICENSE'], edges: [], areas: [], basics: [] }
const select = (files: string[], more: Partial<Rules> = {}) =>
  selectTests(
    files.map((file) => ({ file })),
    graph,
    { ...plain, ...more },
    TESTS,
  )
const testsFor = (files: string[], more?: Partial<Rules>): string[] => [...select(files, more).tests.keys()].sort()

t.test('selectTests follows the graph over several files, and gives the shortest reason', async (t) => {
  t.strictSame(testsFor(['operator/src/schedule/decide.ts']), [UNIT, NEAR, FAR, DIRECT].sort())
  const { tests } = select(['operator/src/schedule/decide.ts', UNIT])
  t.equal(tests.get(NEAR), 'operator/src/schedule/decide.ts by operator/src/main.ts, test/support/program.ts')
  t.equal(tests.get(UNIT), 'operator/src/schedule/decide.ts')
})

t.test('selectTests takes a file that reads the text of a test for no user of what the test needs', async (t) => {
  const reading = new Map([...graph, [NEAR, new Set([UNIT])]])
  const { tests } = selectTests([{ file: 'test/support/program.ts' }], reading, plain, TESTS)
  t.strictSame([...tests.keys()].sort(), [FAR, NEAR])
  t.strictSame([...selectTests([{ file: NEAR }], reading, plain, TESTS).tests.keys()].sort(), [NEAR, UNIT])
})

t.test('selectTests runs a changed test file, and follows declared edges', async (t) => {
  t.strictSame(testsFor([FAR]), [FAR])
  const edges = [{ files: ['test/e2e/**/*.test.ts'], need: ['operator/src/main.ts', 'charts/**/*'] }]
  t.strictSame(testsFor(['charts/tintype/values.yaml'], { edges }), [CLUSTER])
  t.ok(testsFor(['operator/src/schedule/decide.ts'], { edges }).includes(CLUSTER))
})

t.test('selectTests runs everything for a file that is unknown, or that every test needs', async (t) => {
  t.strictSame(testsFor(['operator/assets/new.bin']), [...TESTS].sort())
  t.match(select(['operator/assets/new.bin']).everythingFor, 'operator/assets/new.bin')
  t.equal(select([UNIT, 'package.json']).everythingFor, 'package.json')
  t.strictSame(testsFor(['LICENSE']), [])
})

t.test('selectTests runs what still names a deleted file, and not everything', async (t) => {
  const deleted = (file: string) => [...selectTests([{ file, isDeleted: true }], graph, plain, TESTS).tests.keys()]
  t.strictSame(deleted('operator/src/gone.ts'), [])
  t.strictSame(deleted('test/support/program.ts'), [NEAR, FAR])
})

t.test('selectTests narrows by the area, but keeps unit tests, tests that name the file, and the basics', async (t) => {
  const areas = [{ sources: ['operator/src/schedule/*'], tests: ['test/integration/schedules/*'] }]
  t.strictSame(testsFor(['operator/src/schedule/decide.ts'], { areas }), [UNIT, NEAR, DIRECT].sort())
  t.strictSame([...select(['operator/src/schedule/decide.ts'], { areas }).narrowed], [['operator/src/schedule/decide.ts', 1]])
  t.ok(testsFor(['operator/src/schedule/decide.ts'], { areas, basics: [FAR] }).includes(FAR))
  t.ok(testsFor(['operator/src/main.ts'], { areas }).includes(FAR), 'a file outside of the area')
})

t.test('every glob of test/selection/edges.ts matches a file', async (t) => {
  const files = readRepositoryFiles()
  const { everything, nothing, edges, areas, basics } = rules
  const globs = [
    ...[...everything, ...nothing, ...basics],
    ...[...edges.flatMap((edge) => [...edge.files, ...edge.need]), ...areas.flatMap((area) => [...area.sources, ...area.tests])],
  ]
  assertEvery(t, [...new Set(globs)], (glob) => files.some((file) => path.posix.matchesGlob(file, glob)))
})

t.test('in this repository, a file reaches the tests of its kind', async (t) => {
  const files = readRepositoryFiles()
  const graph = readGraph(files)
  const reached = (file: string): string[] => {
    t.ok(existsSync(path.join(repository, file)), file)
    const { tests, everythingFor } = selectFor([{ file }], files, graph)
    t.equal(everythingFor, undefined, file)
    return [...tests.keys()]
  }
  const cases: [file: string, test: string][] = [
    ['operator/src/controllers/schedule/decide.ts', 'test/integration/schedules/baselines.test.ts'],
    ['charts/tintype/values.yaml', 'test/unit/chart/values.test.ts'],
    ['charts/tintype/templates/access/roles.yaml', 'test/e2e/cluster-roles.test.ts'],
    ['crds/src/addresses/address-rules.ts', 'test/integration/egress/addresses.test.ts'],
    ['capture-runner/jail/enter.sh', 'test/integration/egress/jail.test.ts'],
    ['docs/webhooks.md', 'test/integration/samples/samples.test.ts'],
    ['.github/workflows/release.yaml', 'test/integration/release/workflow.test.ts'],
    ['api-gateway/console/src/style.css', 'test/integration/console/console.test.ts'],
    ['test/sites/sites.yaml', 'test/e2e/take.test.ts'],
  ]
  for (const [file, test] of cases) t.ok(reached(file).includes(test), `${file} reaches ${test}`)
  t.ok(
    reached('crds/src/usage/usage.ts').includes('test/unit/operator/controllers/schedule/decide.test.ts'),
    'the coverage of the pure core',
  )
  t.equal(selectFor([{ file: 'package-lock.json' }], files, graph).everythingFor, 'package-lock.json')
})

t.test('estimate divides the recorded times among the jobs, and a long file bounds them', async (t) => {
  t.equal(estimate(['a', 'b'], { a: 10, b: 30 }, 2), 30)
  t.equal(estimate(['a', 'b', 'c'], { a: 10, b: 10, c: 10 }, 2), 15)
  t.equal(estimate(['a', 'b'], { a: 10 }, 2), undefined)
  t.equal(estimate([], {}, 2), undefined)
})

t.test('describeSelection says what runs, why, and what is left out', async (t) => {
  const areas = [{ sources: ['operator/src/schedule/*'], tests: ['test/integration/schedules/*'] }]
  const stages = [
    { name: 'unit', files: [UNIT], jobs: 2 },
    { name: 'integration', files: [NEAR, FAR, DIRECT], jobs: 3 },
    { name: 'e2e', files: [CLUSTER], jobs: 2 },
  ]
  const text = describeSelection(select(['operator/src/schedule/decide.ts'], { areas }), stages, { [UNIT]: 90 }).join('\n')
  t.match(text, 'unit: 1 of 1 files, about 2 min by the last runs')
  t.match(text, 'integration: 2 of 3 files\n  1 for operator/src/schedule/decide.ts by operator/src/main.ts, test/support/program.ts')
  t.match(text, 'e2e: 0 of 1 files')
  t.match(text, /left out.*\n {2}1 for operator\/src\/schedule\/decide\.ts/)
  t.strictSame(describeSelection(select(['package.json']), stages, {}), ['everything runs, because of package.json'])
})
