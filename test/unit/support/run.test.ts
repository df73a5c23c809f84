import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'

const repository = path.join(import.meta.dirname, '../../..')
const IMPORT = `import t from 'tap'\n`
const PASSING = `${IMPORT}t.ok(true)\n`

/** Runs the integration stage of a project that has these test files, and the test tools of this repository. */
function runStage(t: Test, files: Record<string, string>) {
  const linked = (name: string) => t.fixture('symlink', path.join(repository, name))
  const directory = t.testdir({
    node_modules: linked('node_modules'),
    met: {},
    test: { 'prepare.ts': linked('test/prepare.ts'), support: linked('test/support'), unit: {}, integration: files, e2e: {} },
  })
  // Without what the outer run says to its tests.
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^TAP|^NODE_|^TINTYPE_TEST_/.test(name)))
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(repository, 'test/run.ts'), 'integration'], {
    cwd: directory,
    env: environment,
    encoding: 'utf8',
  })
  return { status, printed: `${stdout}${stderr}` }
}

t.test('a run whose files all pass is green', async (t) => {
  const { status, printed } = runStage(t, { 'one.test.ts': PASSING, 'two.test.ts': PASSING })
  t.match({ status, printed }, { status: 0, printed: /\n2 passed, 0 failed\n$/ })
})

t.test('a file that fails, ends early, has no test, or leaves an `only` makes a run red', async (t) => {
  const { status, printed } = runStage(t, {
    'passing.test.ts': PASSING,
    'failing.test.ts': `${IMPORT}t.ok(false, 'three is even')\n`,
    'ended.test.ts': `${PASSING}process.exit(3)\n`,
    'empty.test.ts': `${IMPORT}void t\n`,
    'without-tap.test.ts': `export {}\n`,
    'only.test.ts': `${IMPORT}t.test('one', { only: true }, async (t) => void t.ok(true))\n`,
  })
  t.match(printed, /not ok - three is even/)
  t.match(printed, /not ok - test\/integration\/ended\.test\.ts/)
  t.match(printed, /not ok - test\/integration\/empty\.test\.ts has no test\n/)
  t.match(printed, /not ok - test\/integration\/without-tap\.test\.ts has no test\n/)
  t.match(printed, /not ok - the test "one" has `only` set\n/)
  t.match({ status, printed }, { status: 1, printed: /\n3 passed, 5 failed\n$/ })
})

t.test('a test file that no stage runs makes a run red', async (t) => {
  const { status, printed } = runStage(t, { 'one.spec.ts': PASSING })
  t.match({ status, printed }, { status: 1, printed: /^no stage runs test\/integration\/one\.spec\.ts\. Move it to / })
})

t.test('when no other stage runs, one file more runs at the same time than there are processors', async (t) => {
  const count = availableParallelism() + 1
  const meeting = `${IMPORT}import { readdirSync, writeFileSync } from 'node:fs'
import { eventually } from '../support/eventually.ts'
t.test('meets the others', async () => {
  writeFileSync('met/' + process.pid, '')
  await eventually('all are there', async () => readdirSync('met').length === ${count})
})
`
  const files = Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.test.ts`, meeting]))
  // The number is larger from the end of the first file on.
  const { status, printed } = runStage(t, { '0-first.test.ts': PASSING, ...files })
  t.match({ status, printed }, { status: 0, printed: new RegExp(`\n${count + 1} passed, 0 failed\n$`) })
})
