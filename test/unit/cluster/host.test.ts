import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { ensureDaemon, startDaemon, stopDaemon } from '../../cluster/host/daemons.ts'
import { run } from '../../cluster/host/exec.ts'
import { withLock } from '../../cluster/host/lock.ts'
import { identify, isRunning, isZombie, parseStartTicks, signal } from '../../cluster/host/process-identity.ts'
import { waitFor } from '../../cluster/host/wait.ts'
import { isStoreDamaged } from '../../cluster/kubernetes/etcd-store.ts'

// What no start of the cluster shows: the tools must not harm other processes, delete a healthy store, or leave processes behind.

const host = path.join(import.meta.dirname, '../../cluster/host')
const SLEEPER = { name: 'sleeper', command: 'sleep', args: ['600'] }

/** Directories of one test. t.testdir() cannot be used, because tap removes it before the teardown, which stops what still runs. */
function aPlace(t: Test) {
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-daemons-'))
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  t.teardown(async () => {
    await stopDaemon(place, SLEEPER.name, 0)
    await rm(directory, { recursive: true })
  })
  const file = path.join(place.records, 'sleeper.json')
  return { place, file, record: async () => JSON.parse(await readFile(file, 'utf8')) }
}

const stat = (name: string, state = 'S', threads = 11) =>
  `4711 (${name}) ${state} 1 4711 4711 0 -1 4194560 100 0 0 0 5 2 0 0 20 0 ${threads} 0 987654 1000000 500`

t.test('the name of a process does not mislead about its start and its state', async (t) => {
  for (const name of ['etcd', 'tmux: server', 'a) S 1 (b', ')']) t.equal(parseStartTicks(stat(name)), 987_654, name)
  t.ok(isZombie(stat('etcd', 'Z', 1)))
  t.notOk(isZombie(stat('a) Z b')))
  t.notOk(isZombie(stat('kube-apiserver', 'Z', 3)), 'its first thread has ended, and others still hold its sockets')
})

t.test('a process that reuses the number of an earlier one gets no signal', async (t) => {
  const child = spawn('sleep', ['60'])
  t.teardown(() => child.kill('SIGKILL'))
  const identity = (await identify(child.pid!))!
  await signal({ ...identity, startTicks: identity.startTicks - 1 }, 'SIGKILL')
  await signal({ ...identity, bootId: 'an earlier start of the machine' }, 'SIGKILL')
  t.ok(await isRunning(identity))

  const { place, file, record } = aPlace(t)
  await startDaemon(place, SLEEPER)
  const started = await record()
  t.teardown(() => process.kill(started.pid, 'SIGKILL'))
  await writeFile(file, JSON.stringify({ ...started, startTicks: started.startTicks + 1 }))
  t.equal(await stopDaemon(place, 'sleeper'), false)
  t.ok(await identify(started.pid))
})

t.test('ensureDaemon starts a daemon whose record is incomplete after a crash', async (t) => {
  const { place, file } = aPlace(t)
  await mkdir(place.records, { recursive: true })
  await writeFile(file, '{"pid": 1')
  t.equal(await ensureDaemon(place, SLEEPER), true)
  t.equal(await ensureDaemon(place, SLEEPER), false, 'once')
})

for (const [how, ending] of [
  ['crashes', "throw new Error('broken off')"],
  ['is killed', "process.kill(process.pid, 'SIGKILL')"],
]) {
  t.test(`a control plane ends when the process of its test ${how}`, async (t) => {
    const { place, record } = aPlace(t)
    const program = `const { startDaemon, endWithProcess } = await import(${JSON.stringify(pathToFileURL(path.join(host, 'daemons.ts')).href)})
const [place, daemon] = ${JSON.stringify([place, SLEEPER])}
endWithProcess(place)
await startDaemon(place, daemon)
${ending}`
    await t.rejects(run(process.execPath, ['--input-type=module', '-e', program]), { name: 'CommandError' })
    const { pid } = await record()
    await waitFor('end', async () => (await identify(pid)) === undefined, { timeoutMilliseconds: 60_000 })
  })
}

t.test('a lock of a process that has ended, or that was incomplete after a crash, holds nobody', async (t) => {
  const file = path.join(t.testdir(), 'lock')
  for (const left of [JSON.stringify({ ...(await identify(process.pid)), startTicks: 1 }), '{"pi']) {
    await writeFile(file, left)
    t.equal(await withLock(file, async () => 'mine'), 'mine')
  }
  await t.rejects(
    withLock(file, () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  t.notOk(existsSync(file))
})

/** Fills a directory of a cache in a process of its own, as two commands do, and notes it in the file `fills`. */
function fillIn(cache: string, name: string): Promise<string> {
  const directory = JSON.stringify(path.join(cache, 'tintype/programs/tool-1'))
  const program = `
    import { appendFile, mkdir, writeFile } from 'node:fs/promises'
    import { setTimeout } from 'node:timers/promises'
    import { ${name} } from ${JSON.stringify(path.join(host, 'fill-once.ts'))}
    await ${name}(${directory}, async (draft = ${directory}) => {
      await appendFile(${JSON.stringify(path.join(cache, 'fills'))}, 'x')
      await mkdir(draft + '/module')
      await setTimeout(300)
      await writeFile(draft + '/module/tool', '')
    })`
  return run(process.execPath, ['--input-type=module-typescript', '--eval', program], { environment: { XDG_CACHE_HOME: cache } })
}

for (const name of ['fillOnce', 'installOnce']) {
  t.test(`${name} fills a directory once when two commands need it, and discards the draft of an interrupted run`, async (t) => {
    const cache = t.testdir({ tintype: { programs: { 'tool-1.partial': { module: 'a file where a folder should be' } } } })
    await Promise.all([fillIn(cache, name), fillIn(cache, name)])
    await fillIn(cache, name)
    t.equal(readFileSync(path.join(cache, 'fills'), 'utf8'), 'x')
    t.ok(existsSync(path.join(cache, 'tintype/programs/tool-1/module/tool')))
    if (name === 'fillOnce') t.strictSame(readdirSync(path.join(cache, 'tintype/programs')), ['tool-1'], 'no draft and no lock is left')
  })
}

const LOGS: [what: string, isDamaged: boolean, log: string][] = [
  ['a broken write-ahead log', true, '{"level":"fatal","error":"walpb: crc mismatch: expected: 3b0c0771 computed: a9a6bb7d"}\n'],
  ['an empty write-ahead log', true, '{"msg":"starting an etcd server"}\npanic: cannot use none as id\n\ngoroutine 1 [running]:\n'],
  ['a truncated database', true, 'unexpected fault address 0x7f8e8c018000\nfatal error: fault\n'],
  ['a database without valid meta pages', true, '{"msg":"both meta pages are invalid, meta0: invalid database"}\n'],
  ['a taken port', false, '{"level":"fatal","error":"listen tcp 127.0.0.1:2379: bind: address already in use"}\n'],
  ['a full disk', false, 'panic: write /store/member/wal/0.wal: no space left on device\n'],
  ['a regular shutdown', false, '{"msg":"received signal; shutting down","initial-corrupt-check":false}\n'],
  ['an empty log', false, ''],
]
t.test('only a damaged store of etcd is deleted', async (t) => {
  for (const [what, isDamaged, log] of LOGS) t.equal(isStoreDamaged(log), isDamaged, what)
})

t.test('the local cluster retries webhooks as the chart does, so that an event outlives an outage there too', async (t) => {
  const values = await readFile(path.join(host, '../release/values.yaml'), 'utf8')
  t.notOk('retryDelaysMilliseconds' in parse(values).webhooks)
})
