import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import {
  argumentsOf,
  listProcesses,
  memoryOf,
  memoryOfGroup,
  oomKillCountOfGroup,
  retainedBytesOf,
  treeOf,
} from '../../../../capture-runner/src/runtime/processes.ts'

t.test('treeOf returns a process and its descendants', async (t) => {
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

t.test('retainedBytesOf counts a process and its descendants except renderers', async (t) => {
  const idle = ['-e', 'console.log(1); setInterval(() => {}, 1000)']
  const [renderer, helper] = [
    ['--', '--type=renderer'],
    ['--', '--type=gpu-process'],
  ].map((mark) => spawn(process.execPath, [...idle, ...mark]))
  t.teardown(() => [renderer, helper].map((child) => child?.kill('SIGKILL')))
  await Promise.all([renderer, helper].map((child) => once(child!.stdout, 'data')))
  const kept = retainedBytesOf(process.pid)
  t.ok(kept >= memoryOf(helper!.pid!) + 10_000_000, 'itself and the helper')
  t.ok(kept < memoryOf(process.pid) + memoryOf(helper!.pid!) + memoryOf(renderer!.pid!), 'not the renderer')
})

t.test('memoryOfGroup reads the first existing file, or returns undefined', async (t) => {
  const directory = t.testdir({ 'memory.usage_in_bytes': '284327936\n' })
  t.equal(memoryOfGroup([`${directory}/memory.current`, `${directory}/memory.usage_in_bytes`]), 284_327_936)
  t.equal(memoryOfGroup([`${directory}/memory.current`]), undefined)
})

t.test('oomKillCountOfGroup counts the kills of either version of cgroup, or returns 0', async (t) => {
  const directory = t.testdir({
    'memory.events': 'low 0\noom 9\noom_kill 3\noom_group_kill 1\n',
    'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 2\n',
  })
  t.equal(oomKillCountOfGroup([`${directory}/memory.events`, `${directory}/memory.oom_control`]), 3)
  t.equal(oomKillCountOfGroup([`${directory}/none`, `${directory}/memory.oom_control`]), 2)
  t.equal(oomKillCountOfGroup([`${directory}/none`]), 0)
})

t.test('a process that has gone has no arguments and no memory', async (t) => {
  const gone = 2 ** 30
  t.strictSame(argumentsOf(gone), [])
  t.equal(memoryOf(gone), 0)
})
