import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { groupFiles, leavesProcessAlone, nameGroup, ungroup } from '../../../support/groups/group.ts'
import { readDurations, readFailedFiles, readFailures } from '../../../support/sources/tap-totals.ts'

const repository = path.join(import.meta.dirname, '../../../..')

t.test('files that share a process are together, and the others come first', async (t) => {
  const files = ['a.ts', 'b.ts', 'c.ts', 'd.ts']
  t.strictSame(
    groupFiles(files, (file) => file !== 'b.ts', 2),
    [['b.ts'], ['a.ts', 'c.ts'], ['d.ts']],
  )
  t.strictSame([nameGroup(['a.ts']), nameGroup(['a.ts', 'c.ts'])], ['a.ts', '2 files from a.ts'])
})

t.test('a file that changes the state of its process runs alone, also when a helper does it', async (t) => {
  const directory = t.testdir()
  const isShared = (text: string): boolean => {
    const file = path.relative('', path.join(directory, 'a.test.ts'))
    writeFileSync(file, text)
    return leavesProcessAlone(file)
  }
  for (const text of [
    "process.env.NAME = 'x'",
    "process.env['NAME'] ??= 'x'",
    'delete process.env.NAME',
    "process.on('exit', () => {})",
    'process.exitCode = 1',
    'mock.timers.enable()',
    'globalThis.fetch = fetch',
    "import { createServer } from 'node:http'",
    'await app.listen({ port: 0 })',
  ])
    t.notOk(isShared(text), text)
  for (const text of ['const { pid, env } = process', 'start({ ...process.env })', '// process.exit()']) t.ok(isShared(text), text)
  t.notOk(leavesProcessAlone('test/unit/client/http/retry.test.ts'), 'it loads stop-clock.ts')
})

t.test('each file of a group has a result of its own, and its failures name it', async (t) => {
  const write = (name: string, body: string): string => {
    const file = path.join(t.testdirName, name)
    writeFileSync(file, `import t from 'tap'\n${body}`)
    return path.relative(repository, file)
  }
  t.testdir()
  const files = [
    write('good.test.ts', "t.test('works', async (t) => void t.equal(1, 1))"),
    write('bad.test.ts', "t.teardown(() => console.error('ended'))\nt.test('fails', async (t) => void t.equal(1, 2))"),
    write('broken.test.ts', "throw new Error('does not load')"),
    write('last.test.ts', "t.equal(3, 3, 'without a subtest')"),
  ]
  const { stdout, stderr, status } = spawnSync(process.execPath, ['test/support/groups/run-group.ts', ...files], {
    cwd: repository,
    encoding: 'utf8',
  })
  t.equal(status, 1)
  t.match(stderr, 'ended', 'the teardown of a file is run')
  const lines = stdout.split('\n').map((line) => (line === '' ? '' : `    ${line}`))
  const tap = ['# Subtest: 4 files from x', ...lines, 'not ok 1 - 4 files from x # time=5ms', '1..1'].join('\n')
  const read = ungroup(tap)
  t.strictSame(readFailedFiles(read), files.slice(1, 3))
  t.strictSame(
    readDurations(read)
      .map(({ file }) => file)
      .toSorted(),
    files.toSorted(),
  )
  const failures = readFailures(read).map((failure) => failure.split('\n')[0])
  t.ok(failures.includes(`not ok - should be equal (${files[1]})`), failures.join('; '))
  t.ok(failures.some((line) => line?.includes(`does not load (${files[2]})`)))
})
