import t from 'tap'
import { parseStat } from '../../../support/times/proc.ts'
import { ProcessTimes, testFileOf } from '../../../support/times/process-times.ts'
import { describeTimes } from '../../../support/times/report.ts'

const ROOT = 1
const FILE = 'test/integration/a.test.ts'
const aState = (pid: number, parent: number, used: number, usedByChildren = 0, name = `program ${pid}`) =>
  ({ pid, parent, name, started: pid, used, usedByChildren }) as const

/** Processes in two samples of a second each. Returns the times of the file, and all others. */
function measure(...samples: ReturnType<typeof aState>[][]) {
  const commands: Record<number, string[]> = {
    2: ['/bin/node', 'test/support/processes/run-files.ts', FILE, 'test/integration/b.test.ts', '3'],
    3: ['/bin/node', '--enable-source-maps', `/repository/${FILE}`],
    4: ['/programs/kube-apiserver', '--etcd-servers=x'],
    5: ['/bin/node', '/repository/api-gateway/src/main.ts'],
    6: ['/usr/bin/unrelated'],
    7: ['setpriv', '/programs/etcd'],
  }
  const startTime = (pid: number) => (pid === 3 ? 1 : undefined)
  const times = new ProcessTimes(ROOT, (pid) => commands[pid] ?? [], startTime)
  times.stage = 'integration and e2e'
  for (const sample of samples) {
    times.add([aState(ROOT, 0, 9), ...sample], 1)
    commands[7] = ['/programs/etcd']
  }
  const all = times.finish()
  return { all, file: all.find(({ file }) => file === FILE)!, besides: all.find(({ file }) => file === '') }
}

t.test('processor time counts for the test file above a process, by cause', async (t) => {
  const ours = [aState(2, ROOT, 0.5), aState(3, 2, 2), aState(4, 3, 1.5), aState(5, 3, 0.5)]
  const { all, file, besides } = measure([...ours, aState(6, 99, 7)], ours)
  t.match(file, {
    stage: 'integration',
    wall: 2,
    waiting: 1,
    used: { 'start and compile': 1, 'test code': 1, 'API server': 1.5, programs: 0.5 },
  })
  t.match(besides, { stage: 'integration and e2e', used: { other: 0.5 } })
  t.equal(all.length, 2, 'processes of others are not counted')
  const { summary, whole } = describeTimes(all)
  t.match(summary, '| integration | 2.0 | 1.0 | 4.0 | 1.0 | 1.0 | 0.5 | 1.5 |')
  t.match(whole, `| ${FILE} | 2.0 | 1.0 | 4.0 |`)
})

t.test('processes without a parent, that ended between two samples, or that execute another program count', async (t) => {
  const orphan = measure([aState(3, ROOT, 1), aState(4, 3, 1)], [aState(4, 999, 3)])
  t.equal(orphan.file.used['API server'], 3)
  const ended = measure([aState(3, ROOT, 1), aState(4, 3, 1)], [aState(3, ROOT, 2, 1.75)])
  t.equal(ended.file.used.other, 0.75)
  const replaced = measure([aState(3, ROOT, 1), aState(7, 3, 0.25)], [aState(3, ROOT, 1), aState(7, 3, 1.25, 0, 'etcd')])
  t.match(replaced.file.used, { etcd: 1, other: 0.25 })
})

t.test('names of programs can contain parentheses, and files that share a process have one row', async (t) => {
  const stat = '42 (a) b) (c) S 7 42 42 0 -1 4194560 1 2 3 4 150 50 25 75 20 0 1 0 999 0 0'
  t.strictSame(parseStat(stat, 100), { pid: 42, parent: 7, name: 'a) b) (c', started: 999, used: 2, usedByChildren: 1 })
  const files = ['test/unit/a.test.ts', 'test/unit/b.test.ts']
  t.equal(testFileOf(['/bin/node', 'test/support/groups/run-group.ts', ...files]), '2 files from test/unit/a.test.ts')
  t.equal(testFileOf(['/bin/node', ...files, '3']), undefined)
})
