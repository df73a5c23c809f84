import t from 'tap'
import { parseStat } from '../../../support/times/proc.ts'
import { type FileTimes, ProcessTimes, testFileOf } from '../../../support/times/process-times.ts'
import { describeTimes } from '../../../support/times/report.ts'

const ROOT = 1
const FILE = 'test/integration/a.test.ts'
const commands: Record<number, string[]> = {
  2: ['/bin/node', 'test/support/processes/run-files.ts', FILE, 'test/integration/b.test.ts', '3'],
  3: ['/bin/node', '--enable-source-maps', `/repository/${FILE}`],
  4: ['/programs/kube-apiserver', '--etcd-servers=x'],
  5: ['/bin/node', '/repository/api-gateway/src/main.ts'],
  6: ['/usr/bin/unrelated'],
}
const state = (pid: number, parent: number, used: number, usedByChildren = 0) => ({
  pid,
  parent,
  name: `program ${pid}`,
  started: pid,
  used,
  usedByChildren,
})
const aRun = () => {
  const times = new ProcessTimes(
    ROOT,
    (pid) => commands[pid] ?? [],
    (pid) => (pid === 3 ? 1 : undefined),
  )
  times.stage = 'integration'
  return times
}
const ofFile = (times: FileTimes[]): FileTimes => times.find(({ file }) => file === FILE)!

t.test('processor time counts for the test file above a process, by cause', async (t) => {
  const times = aRun()
  times.add([state(ROOT, 0, 9), state(2, ROOT, 0.5), state(3, 2, 2), state(4, 3, 1.5), state(5, 3, 0.5), state(6, 99, 7)], 1)
  times.add([state(ROOT, 0, 9), state(2, ROOT, 0.5), state(3, 2, 2), state(4, 3, 1.5), state(5, 3, 0.5)], 1)
  const all = times.finish()
  t.match(ofFile(all), { wall: 2, waiting: 1, used: { 'start and compile': 1, 'test code': 1, 'API server': 1.5, programs: 0.5 } })
  t.match(
    all.find(({ file }) => file === ''),
    { stage: 'integration', used: { other: 0.5 } },
  )
  t.equal(all.length, 2, 'processes of others are not counted')
})

t.test('a process without its parent keeps its file', async (t) => {
  const times = aRun()
  times.add([state(ROOT, 0, 9), state(3, ROOT, 1), state(4, 3, 1)], 1)
  times.add([state(ROOT, 0, 9), state(4, 999, 3)], 1)
  t.equal(ofFile(times.finish()).used['API server'], 3)
})

t.test('children that ended between two samples count', async (t) => {
  const times = aRun()
  times.add([state(ROOT, 0, 9), state(3, ROOT, 1), state(4, 3, 1)], 1)
  times.add([state(ROOT, 0, 9), state(3, ROOT, 2, 1.75)], 1)
  t.equal(ofFile(times.finish()).used.other, 0.75)
})

t.test('a process that executes another program has its cause', async (t) => {
  const times = aRun()
  commands[7] = ['setpriv', '/programs/etcd']
  times.add([state(ROOT, 0, 9), state(3, ROOT, 1), state(7, 3, 0.25)], 1)
  commands[7] = ['/programs/etcd']
  times.add([state(ROOT, 0, 9), state(3, ROOT, 1), { ...state(7, 3, 1.25), name: 'etcd' }], 1)
  t.match(ofFile(times.finish()).used, { etcd: 1, other: 0.25 })
})

t.test('the name of a program can contain spaces and parentheses', async (t) => {
  const stat = '42 (a) b) (c) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 25 75 20 0 1 0 999 0 0'
  t.strictSame(parseStat(stat, 100), { pid: 42, parent: 7, name: 'a) b) (c', started: 999, used: 2, usedByChildren: 1 })
})

t.test('the table has the sums of a stage, and the files', async (t) => {
  const times = aRun()
  times.add([state(ROOT, 0, 9), state(3, ROOT, 2), state(4, 3, 1.5)], 1)
  const { summary, whole } = describeTimes(times.finish())
  t.match(summary, '| integration | 1.0 | 0.0 | 3.5 | 1.0 | 1.0 | 0.0 | 1.5 |')
  t.match(whole, `| ${FILE} | 1.0 | 0.0 | 3.5 |`)
})

t.test('files that share a process have one row', async (t) => {
  const files = ['test/unit/a.test.ts', 'test/unit/b.test.ts']
  t.equal(testFileOf(['/bin/node', 'test/support/groups/run-group.ts', ...files]), '2 files from test/unit/a.test.ts')
  t.equal(testFileOf(['/bin/node', ...files, '3']), undefined)
})
