import { mkdtempSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import {
  type Daemon,
  type DaemonPlace,
  ensureDaemon,
  fingerprintOf,
  isDaemonCurrent,
  isDaemonRunning,
  logOf,
  stopDaemon,
} from '../../cluster/host/daemons.ts'
import { run } from '../../cluster/host/exec.ts'
import { identify } from '../../cluster/host/process-identity.ts'
import { waitFor } from '../../cluster/host/wait.ts'

const aDaemon = (settings: Partial<Daemon> = {}): Daemon => ({ name: 'sleeper', command: 'sleep', args: ['600'], ...settings })

/** Directories of one test. Its teardown stops what still runs. t.testdir() cannot be used, because tap removes it before the teardown. */
function aPlace(t: Tap) {
  const directory = mkdtempSync(path.join(tmpdir(), 'tintype-daemons-'))
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  t.teardown(async () => {
    await stopDaemon(place, 'sleeper', 0)
    await rm(directory, { recursive: true })
  })
  return { place, pid: async () => JSON.parse(await readFile(path.join(place.records, 'sleeper.json'), 'utf8')).pid as number }
}
type Tap = Pick<typeof t, 'teardown'>

t.test('fingerprintOf depends on all settings of the daemon', async (t) => {
  const changed: Partial<Daemon>[] = [
    { command: 'cat' },
    { args: ['601'] },
    { networkNamespace: '/run/netns/x' },
    { environment: { A: 'b' } },
    { configuration: 'c' },
  ]
  const fingerprints = new Set([aDaemon(), ...changed.map(aDaemon)].map(fingerprintOf))
  t.equal(fingerprints.size, changed.length + 1)
  t.equal(fingerprintOf(aDaemon({ descriptors: [3] })), fingerprintOf(aDaemon()), 'except the numbers of its sockets')
})

t.test('ensureDaemon starts a daemon once', async (t) => {
  const { place, pid } = aPlace(t)
  t.equal(await ensureDaemon(place, aDaemon()), true)
  const first = await pid()
  t.equal(await ensureDaemon(place, aDaemon()), false)
  t.equal(await pid(), first)
})

t.test('ensureDaemon restarts a daemon whose settings changed', async (t) => {
  const { place, pid } = aPlace(t)
  await ensureDaemon(place, aDaemon())
  const first = await pid()
  t.equal(await isDaemonCurrent(place, aDaemon({ args: ['700'] })), false)
  t.equal(await ensureDaemon(place, aDaemon({ args: ['700'] })), true)
  t.equal(await identify(first), undefined)
})

t.test('ensureDaemon restarts a daemon that was killed', async (t) => {
  const { place, pid } = aPlace(t)
  await ensureDaemon(place, aDaemon())
  process.kill(await pid(), 'SIGKILL')
  await waitFor('end', async () => !(await isDaemonRunning(place, 'sleeper')), { timeoutMilliseconds: 10_000 })
  t.equal(await ensureDaemon(place, aDaemon()), true)
})

t.test('ensureDaemon starts a daemon whose record is incomplete after a crash', async (t) => {
  const { place } = aPlace(t)
  await ensureDaemon(place, aDaemon())
  await stopDaemon(place, 'sleeper')
  await writeFile(path.join(place.records, 'sleeper.json'), '{"pid": 1')
  t.equal(await ensureDaemon(place, aDaemon()), true)
})

t.test('stopDaemon does not touch a process that reuses the number of an earlier daemon', async (t) => {
  const { place } = aPlace(t)
  await ensureDaemon(place, aDaemon())
  const file = path.join(place.records, 'sleeper.json')
  const record = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...record, startTicks: record.startTicks + 1 }))
  t.equal(await stopDaemon(place, 'sleeper'), false)
  t.ok(await identify(record.pid))
  process.kill(record.pid, 'SIGKILL')
})

t.test('stopDaemon kills a daemon that ignores SIGTERM', async (t) => {
  const { place, pid } = aPlace(t)
  const stubborn = aDaemon({ command: 'sh', args: ['-c', "trap '' TERM; echo ready; while :; do sleep 1; done"] })
  await ensureDaemon(place, stubborn)
  const first = await pid()
  await waitFor('trap', async () => (await readFile(logOf(place, 'sleeper'), 'utf8')).includes('ready'), { timeoutMilliseconds: 10_000 })
  t.equal(await stopDaemon(place, 'sleeper', 50), true)
  t.equal(await identify(first), undefined)
})

t.test('startDaemon fails with the name of a missing program', async (t) => {
  const { place } = aPlace(t)
  await t.rejects(ensureDaemon(place, aDaemon({ command: 'no-such-program' })), /no-such-program/)
})

t.test('endWithProcess kills daemons when the process that started them crashes', async (t) => {
  const { place, pid } = aPlace(t)
  const failure = await run(process.execPath, toStarter(place, "throw new Error('broken off')")).catch((error: unknown) => error)
  t.match(failure, { name: 'CommandError', output: /broken off/ })
  const sleeper = await pid()
  await waitFor('end', async () => (await identify(sleeper)) === undefined, { timeoutMilliseconds: 60_000 })
})

t.test('a control plane ends when the process of its test is killed', async (t) => {
  const { place, pid } = aPlace(t)
  await t.rejects(run(process.execPath, toStarter(place, "process.kill(process.pid, 'SIGKILL')")))
  const sleeper = await pid()
  await waitFor('end', async () => (await identify(sleeper)) === undefined, { timeoutMilliseconds: 60_000 })
})

/** Arguments for a Node process that starts a daemon with endWithProcess and then runs the code `ending`. */
function toStarter(place: DaemonPlace, ending: string): string[] {
  const source = pathToFileURL(path.join(import.meta.dirname, '../../cluster/host/daemons.ts')).href
  const program = `const { startDaemon, endWithProcess } = await import(${JSON.stringify(source)})
const [place, daemon] = ${JSON.stringify([place, aDaemon()])}
endWithProcess(place)
await startDaemon(place, daemon)
${ending}`
  return ['--input-type=module', '-e', program]
}
