import t from 'tap'
import type { RunnerPool } from '../../crds/src/kinds/runner-pool.ts'
import type { Screenshot } from '../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../crds/src/schema/conditions.ts'
import { call } from '../support/cluster/api-client.ts'
import { probeFromBothPlaces, TOKENS } from '../support/cluster/browser-place.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { createApiKey } from '../support/cluster/keys.ts'
import { createKind, createPool, idleRunners, poolOf, type RunnerPod, run } from '../support/cluster/pools.ts'
import { captureWith, createScreenshot, ended, fileOf, screenshotOf } from '../support/cluster/screenshots.ts'
import { STORE } from '../support/cluster/tested-release.ts'
import { eventually } from '../support/eventually.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// The sandbox of the browser on a node with the seccomp profile, and the behavior of the product on the same node without it.

t.setTimeout(400_000)
const VIEWPORT = { viewportWidth: 64, viewportHeight: 64 }
const shotOf = (poolName: string, accountName = 'default') => ({
  url: page('/solid?color=336699'),
  poolName,
  accountName,
  options: VIEWPORT,
})

const conditionOf = (pool: RunnerPool, type: string) => findCondition(pool.status?.conditions, type)

/** Waits until a condition of a pool has that status. */
const condition = (pool: string, type: string, status: string) =>
  eventually(`${pool} says ${type}=${status}`, async () => {
    const found = conditionOf(await poolOf(pool), type)
    return found?.status === status && found
  })

async function warningsOf(pool: string): Promise<{ reason: string; message: string }[]> {
  const of = ['--field-selector', `involvedObject.kind=RunnerPool,involvedObject.name=${pool},type=Warning`]
  const { items } = await kubectlJson<{ items: { reason: string; message: string }[] }>(['get', 'events', ...of])
  return items
}

// A second account, with an ApiKey whose label is the hash of a key that is not stored anywhere.
const other = `other-${run}`
await createKind(t, 'Account', other, { plan: 'scale' })
t.teardown(() => kubectl(['delete', 'apikey', other, '--wait=false', '--ignore-not-found']))
const otherKey = await createApiKey(other, other)

/** Captures for each account in turn. Returns the pod of each capture. */
async function alternate(pool: string, accounts: readonly string[]): Promise<{ pod: string; account: string; shot: Screenshot }[]> {
  const work = []
  for (const account of accounts) {
    const shot = await captureWith(t, shotOf(pool, account))
    work.push({ pod: shot.status?.runner?.uid ?? '', account, shot })
  }
  return work
}

t.test('with the seccomp profile a pool is sandboxed, and one pod serves all accounts', async (t) => {
  const pool = await createPool(t, 'fenced', { minIdle: 1, maxPods: 1 })
  await idleRunners(pool)
  t.match(await condition(pool, 'Sandboxed', 'True'), { reason: 'BrowserFenced' })
  const work = await alternate(pool, ['default', other, 'default'])
  t.strictSame(
    work.map(({ shot }) => shot.status?.phase),
    ['Completed', 'Completed', 'Completed'],
  )
  t.equal(new Set(work.map(({ pod }) => pod)).size, 1)
  t.strictSame(await warningsOf(pool), [])
})

t.test('without the seccomp profile captures work, and the pool’s condition reports the missing sandbox and a remedy', async (t) => {
  const pool = await createPool(t, 'unfenced', { sandbox: { mode: 'auto' }, minIdle: 1, maxPods: 2 })
  await idleRunners(pool)
  const shot = await captureWith(t, shotOf(pool))
  t.equal(shot.status?.phase, 'Completed', JSON.stringify(shot.status?.result?.error))
  t.ok(isNear((await decode(await fileOf(shot.metadata.name))).at(32, 32), [0x33, 0x66, 0x99]), 'the picture is the page')
  const { reason, message } = await condition(pool, 'Sandboxed', 'False')
  t.equal(reason, 'BrowserNotFenced')
  t.match(message, /each pod serves only one account/)
  t.match(message, /unshare.*not permitted/, 'the message contains the error of the node')
  t.match(message, /Install the seccomp profile on the nodes \(value seccompInstaller\.enabled\), set spec\.sandbox\.localhostProfile/)
  t.notMatch(message, /no-sandbox/, 'the message does not recommend --no-sandbox')
  t.notMatch(message, /can read the tokens/, 'Landlock hides the tokens')
  t.match(conditionOf(await poolOf(pool), 'Ready'), { status: 'True' })
  const warnings = await eventually('the warning', async () => {
    const found = await warningsOf(pool)
    return found.length > 0 && found
  })
  t.match(warnings, [{ reason: 'BrowserNotFenced', message: /Install the seccomp profile/ }])
  const { stdout } = await kubectl(['describe', 'runnerpool', pool])
  t.match(stdout, /Warning +BrowserNotFenced/)
  const row = (await kubectl(['get', 'runnerpool', pool])).stdout.trim().split('\n')
  t.match(row[0], /SANDBOXED/)
  t.match(row[1], / False /)
})

t.test('without a sandbox a pod serves only one account', async (t) => {
  const pool = await createPool(t, 'shared', { sandbox: { mode: 'auto' }, minIdle: 1, maxPods: 4 })
  await idleRunners(pool)
  const work = await alternate(pool, ['default', other, other, 'default', 'default', other])
  const accountsOf = Map.groupBy(work, ({ pod }) => pod)
  t.ok(accountsOf.size >= 2, `${accountsOf.size} pods`)
  for (const [pod, done] of accountsOf) t.equal(new Set(done.map(({ account }) => account)).size, 1, `pod ${pod}`)
  t.ok(work.length > accountsOf.size, 'one account uses the same pod again')
  const { name } = work[1]!.shot.metadata
  const path = `/api/v1/screenshots/${name.replace('-', '_')}`
  t.match(await call(path, { key: otherKey }), { status: 200, body: { status: 'completed' } })
  t.equal((await call(path)).status, 404, 'another account cannot read it')
  t.ok(isNear((await decode(await fileOf(name, otherKey))).at(32, 32), [0x33, 0x66, 0x99]))
})

t.test('a pool that requires the sandbox reports the missing profile, and captures only after it is installed', async (t) => {
  const { spec } = await poolOf('default')
  const pool = await createPool(t, 'required', { sandbox: { mode: 'required' }, minIdle: 1, maxPods: 1 })
  const name = await createScreenshot(t, shotOf(pool))
  const { message } = await condition(pool, 'Sandboxed', 'False')
  t.match(message, /nothing is captured.*not permitted.*Install the seccomp profile/)
  t.match(await condition(pool, 'Ready', 'False'), { reason: 'SandboxRequired', message: /spec\.sandbox\.mode is required/ })
  t.match(await warningsOf(pool), [{ reason: 'BrowserNotFenced' }])
  t.match(await screenshotOf(name), { status: { phase: 'Pending' } })
  t.equal((await poolOf(pool)).status?.idle, 0)
  const patch = JSON.stringify({ spec: { sandbox: { localhostProfile: spec.sandbox?.localhostProfile } } })
  t.equal((await kubectl(['patch', 'runnerpool', pool, '--type=merge', '-p', patch])).code, 0)
  t.equal((await ended(name)).status?.phase, 'Completed', 'a capture succeeds after the remedy')
  t.match(await condition(pool, 'Sandboxed', 'True'), { reason: 'BrowserFenced' })
})

t.test('token, memory and network are reachable from outside the browser’s jail, but not from inside it', async (t) => {
  const pool = await createPool(t, 'probed', { minIdle: 1, maxPods: 1 })
  const [{ name, ip }] = (await idleRunners(pool)) as [RunnerPod]
  const store = await kubectlJson<{ spec: { clusterIP: string } }>(['get', 'service', STORE])
  const endpoint = await kubectlJson<{ subsets: { addresses: { ip: string }[]; ports: { port: number }[] }[] }>([
    'get',
    '-n',
    'default',
    'endpoints',
    'kubernetes',
  ])
  const server = endpoint.subsets[0]!
  const kubelet = await kubectlJson<{ items: { status: { addresses: { type: string; address: string }[] } }[] }>(['get', 'nodes'])
  const listeners = [
    { host: '127.0.0.1', port: 8080 },
    { host: ip, port: 8080 },
    { host: '10.96.0.1', port: 443 },
    { host: server.addresses[0]!.ip, port: server.ports[0]!.port },
    { host: kubelet.items[0]!.status.addresses.find(({ type }) => type === 'InternalIP')!.address, port: 10250 },
    { host: store.spec.clusterIP, port: 9000 },
  ]
  const { runner, jails, jailed, inside, outside } = await probeFromBothPlaces(name, listeners)
  t.equal(jails, 2, 'the current browser and the standby browser each have a jail')
  const { signals, ...rest } = inside
  t.strictSame(rest, { readFiles: [], environ: [], memory: [], ptrace: [], foreignFds: [], ownFds: [], reached: [], uncovered: [] })
  t.strictSame(
    signals.filter((pid) => !jailed.includes(pid)),
    [],
    'signals reach only processes in the jail',
  )
  t.strictSame(outside.readFiles, TOKENS, 'control: tokens')
  t.strictSame(outside.uncovered, TOKENS)
  t.strictSame(outside.reached, listeners, 'control: listeners')
  for (const way of ['environ', 'memory', 'ptrace', 'signals', 'foreignFds'] as const)
    t.ok(outside[way].includes(runner), `the control: ${way} of the runner`)
})
