import t from 'tap'
import { argumentsOf, listProcesses, memoryOf, treeOf } from '../../../capture-runner/src/processes.ts'

t.test('treeOf holds a process and all below it', async (t) => {
  const processes = [
    { pid: 1, parent: 0 },
    { pid: 2, parent: 1 },
    { pid: 3, parent: 2 },
    { pid: 4, parent: 2 },
    { pid: 5, parent: 1 },
  ]
  t.strictSame(treeOf(2, processes), [2, 3, 4])
  t.strictSame(treeOf(5, processes), [5])
  t.strictSame(treeOf(9, processes), [9])
})

t.test('listProcesses, argumentsOf and memoryOf read /proc', async (t) => {
  const own = listProcesses().find(({ pid }) => pid === process.pid)
  t.equal(own?.parent, process.ppid)
  t.match(argumentsOf(process.pid).join(' '), /processes\.test\.ts/)
  t.ok(memoryOf(process.pid) > 10_000_000 && memoryOf(process.pid) < 2_000_000_000)
})

t.test('a process that has gone has no arguments and no memory', async (t) => {
  const gone = 2 ** 30
  t.strictSame(argumentsOf(gone), [])
  t.equal(memoryOf(gone), 0)
})
