import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { accessFromFiles, loadClusterAccess } from '../../../../crds/client/cluster-access.ts'
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isGone,
  isInvalid,
  isNotFound,
  isTransient,
  isUnreachable,
  KubeError,
} from '../../../../crds/client/kube-error.ts'
import { Store } from '../../../../crds/client/lister.ts'
import { pointer } from '../../../../crds/client/resource.ts'
import { Backoff, type MalformedWatchError, readWatchEvents } from '../../../../crds/client/watch-stream.ts'
import { aThing, type Thing } from './things.ts'

t.test('backoff waits briefly at first, then longer up to its cap, and never less than its base', async (t) => {
  for (const [random, waits] of [
    [1, [400, 1_200, 3_600, 10_800, 30_000, 30_000, 30_000]],
    [0, [100, 800, 800, 800]],
  ] as const) {
    const backoff = new Backoff({ base: 800, cap: 30_000, random: () => random })
    for (const wait of waits) t.equal(backoff.next(), wait)
    backoff.reset()
    t.equal(backoff.next(), waits[0], 'it starts over after a success')
  }
})

const kubeconfig = (server: string, namespace: string, token: string) => `
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "${server}", certificate-authority-data: ${Buffer.from('a CA').toString('base64')}}}]
users: [{name: u, user: {token: ${token}}}]
contexts: [{name: here, context: {cluster: c, user: u, namespace: ${namespace}}}]
`

t.test('loadClusterAccess prefers the kubeconfig in KUBECONFIG', async (t) => {
  const directory = t.testdir({ config: kubeconfig('https://one:6443/', 'shots', 'abc'), token: 'x', namespace: 'other' })
  const env = { KUBECONFIG: join(directory, 'config'), KUBERNETES_SERVICE_HOST: '10.0.0.1' }
  const access = await loadClusterAccess(env, { serviceAccountDirectory: directory })
  t.equal(access.server, 'https://one:6443')
  t.equal(access.namespace, 'shots')
  const { headers, tls } = await access.credentials()
  t.strictSame(headers, { Authorization: 'Bearer abc' })
  t.equal(String(tls.ca), 'a CA')
  t.equal((await access.credentials({ refresh: true })).tls, tls, 'unchanged TLS material stays the same object')
})

t.test('loadClusterAccess uses the service account in a pod, also over IPv6', async (t) => {
  const directory = t.testdir({ token: 'first\n', namespace: 'shots\n', 'ca.crt': 'a CA' })
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
  const access = await loadClusterAccess(env, { serviceAccountDirectory: directory })
  t.equal(access.server, 'https://[fd00::1]:6443')
  t.equal(access.namespace, 'shots')
  t.strictSame(await access.credentials(), { headers: { authorization: 'Bearer first' }, tls: { ca: 'a CA' } })
})

t.test('loadClusterAccess falls back to the kubeconfig in the home directory', async (t) => {
  const home = t.testdir({})
  await mkdir(join(home, '.kube'))
  await writeFile(join(home, '.kube', 'config'), kubeconfig('https://home', 'default', 'abc'))
  t.equal((await loadClusterAccess({ HOME: home }, { serviceAccountDirectory: home })).server, 'https://home')
})

t.test('loadClusterAccess lists the places where it looked if there is no cluster', async (t) => {
  const home = t.testdir({})
  await t.rejects(loadClusterAccess({ HOME: home }, { serviceAccountDirectory: home }), { message: /KUBECONFIG is not set/ })
})

t.test('credentials contain a rotated token after a refresh, and keep the TLS material while the CA is the same', async (t) => {
  const directory = t.testdir({ token: 'first', ca: 'a CA' })
  const files = { tokenFile: join(directory, 'token'), caFile: join(directory, 'ca') }
  const access = accessFromFiles({ server: 'https://x', namespace: 'default', ...files })
  const first = await access.credentials()
  await writeFile(files.tokenFile, 'second')
  t.equal((await access.credentials()).headers.authorization, 'Bearer first')
  const second = await access.credentials({ refresh: true })
  t.equal(second.headers.authorization, 'Bearer second')
  t.equal(second.tls, first.tls)
  await writeFile(files.caFile, 'another CA')
  t.strictSame((await access.credentials({ refresh: true })).tls, { ca: 'another CA' })
})

t.test('pointer escapes special characters in segments', async (t) => {
  t.equal(pointer('metadata', 'labels', 'tintype.dev/hash~1', 0), '/metadata/labels/tintype.dev~1hash~01/0')
})

const error = (status: number, reason = 'Any') => new KubeError({ status, reason, message: 'refused' })
const cases = [
  { name: 'a conflict', error: error(409, 'Conflict'), is: ['isConflict'] },
  { name: 'a taken name', error: error(409, 'AlreadyExists'), is: ['isAlreadyExists'] },
  { name: 'a missing object', error: error(404), is: ['isNotFound'] },
  { name: 'an expired version', error: error(410), is: ['isGone'] },
  { name: 'an invalid object', error: error(422), is: ['isInvalid'] },
  { name: 'a forbidden call', error: error(403), is: ['isForbidden'] },
  { name: 'no answer', error: error(0), is: ['isUnreachable', 'isTransient'] },
  { name: 'an overloaded server', error: error(429), is: ['isTransient'] },
  { name: 'a failing server', error: error(503), is: ['isTransient'] },
  { name: 'an error of another kind', error: new Error('409'), is: [] },
]
const predicates = { isAlreadyExists, isConflict, isForbidden, isGone, isInvalid, isNotFound, isTransient, isUnreachable }
for (const { name, error, is } of cases) {
  t.test(`errors of the API server are distinguished: ${name}`, async (t) => {
    const holding = Object.entries(predicates).filter(([, predicate]) => predicate(error))
    t.strictSame(new Set(holding.map(([name]) => name)), new Set(is))
  })
}

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`
async function read(chunks: (string | Uint8Array)[]): Promise<{ seen: string[]; error?: unknown }> {
  const seen: string[] = []
  const body = (async function* () {
    for (const chunk of chunks) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk
  })()
  try {
    for await (const events of readWatchEvents<Thing>(body))
      seen.push(...events.map(({ object: { metadata } }) => `${metadata.name}@${metadata.resourceVersion}`))
    return { seen }
  } catch (error) {
    return { seen, error }
  }
}

t.test('readWatchEvents finds the same events for all chunk boundaries', async (t) => {
  const text = Buffer.from(line('ADDED', aThing('ä–€😀', 1)) + line('MODIFIED', aThing('b', 2)) + line('DELETED', aThing('c', 3)))
  const differing: number[] = []
  for (let size = 1; size <= text.length; size++) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, n) => text.subarray(n * size, (n + 1) * size))
    const { seen, error } = await read(chunks)
    if (error || seen.join() !== 'ä–€😀@1,b@2,c@3') differing.push(size)
  }
  t.strictSame(differing, [])
})

t.test('readWatchEvents drops an incomplete last line', async (t) => {
  t.strictSame(await read([line('ADDED', aThing('a', 1)), line('ADDED', aThing('b', 2)).slice(0, 20)]), { seen: ['a@1'] })
})

t.test('readWatchEvents yields the events before a malformed line', async (t) => {
  const noEvents = ['{"type":"NEWS","object":{"metadata":{"resourceVersion":"9"}}}\n', '{"type":"ADDED","object":{}}\n']
  for (const bad of ['{"type":"ADD\n', '[]\n', 'null\n', ...noEvents]) {
    const { seen, error } = await read([line('ADDED', aThing('a', 1)) + bad + line('ADDED', aThing('b', 2))])
    t.strictSame(seen, ['a@1'], bad)
    t.equal((error as MalformedWatchError).name, 'MalformedWatchError', bad)
  }
})

const byColor = (thing: Thing) => thing.spec?.color
const byName = (thing: Thing) => thing.metadata.name
const names = (things: Thing[]) => things.map(byName)

t.test('lister returns an object by its key until it is deleted', async (t) => {
  const store = new Store<Thing>()
  t.equal(store.set(aThing('a', 1)), undefined)
  t.equal(store.get('default/a')?.metadata.resourceVersion, '1')
  t.equal(store.set(aThing('a', 2))?.metadata.resourceVersion, '1')
  t.equal(store.size, 1)
  t.equal(store.delete('default/a')?.metadata.resourceVersion, '2')
  t.equal(store.has('default/a'), false)
  t.equal(store.delete('default/a'), undefined)
})

t.test('lister moves an object between index values when it changes', async (t) => {
  const store = new Store<Thing>().addIndex('color', byColor)
  store.set(aThing('a', 1, { color: 'red' }))
  store.set(aThing('b', 1, { color: 'red' }))
  store.set(aThing('a', 2, { color: 'blue' }))
  t.strictSame(names(store.byIndex('color', 'red')), ['b'])
  t.strictSame(names(store.byIndex('color', 'blue')), ['a'])
  t.equal(store.countByIndex('color', 'red'), 1)
  t.strictSame(store.indexValues('color').sort(), ['blue', 'red'])
  store.delete('default/b')
  t.strictSame(store.indexValues('color'), ['blue'], 'a value goes with its last object')
  t.strictSame(store.byIndex('color', 'red'), [])
  t.equal(store.countByIndex('color', 'red'), 0)
})

t.test('lister indexes an object under several values, and under none if the function returns undefined', async (t) => {
  const store = new Store<Thing>().addIndex('letters', ({ metadata }) => (metadata.name === '-' ? undefined : [...metadata.name]))
  store.set(aThing('aba', 1))
  store.set(aThing('-', 1))
  t.strictSame(names(store.byIndex('letters', 'a')), ['aba'])
  t.strictSame(names(store.byIndex('letters', 'b')), ['aba'])
  t.equal(store.indexValues('letters').length, 2)
})

t.test('lister indexes existing objects when an index is added later, and refuses a second index of the same name', async (t) => {
  const store = new Store<Thing>()
  store.set(aThing('a', 1, { color: 'red' }))
  store.addIndex('color', byColor)
  t.strictSame(names(store.byIndex('color', 'red')), ['a'])
  t.throws(() => store.byIndex('size', 'big'), { message: 'there is no index size' })
  t.equal(store.addIndex('color', byColor), store, 'several controllers may ask for the same index')
  t.throws(() => store.addIndex('color', () => 'blue'), { message: 'index color exists already' })
  t.throws(() => store.after('color', 'red', undefined, 1), { message: 'index color has no order' })
})

t.test('lister keeps an ordered index sorted through random changes', async (t) => {
  const store = new Store<Thing>().addIndex('all', () => 'all', { orderBy: byName })
  const expected = new Set<string>()
  let state = 7
  for (let n = 0; n < 2_000; n++) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    const name = `n${state % 150}`
    if (state % 3 === 0) {
      store.delete(`default/${name}`)
      expected.delete(name)
    } else {
      store.set(aThing(name, n))
      expected.add(name)
    }
  }
  t.strictSame(names(store.byIndex('all', 'all')), [...expected].sort())
})

t.test('lister pages through an ordered index from a cursor, even if its object was deleted', async (t) => {
  const store = new Store<Thing>().addIndex('color', byColor, { orderBy: byName })
  for (const name of ['d', 'b', 'a', 'c', 'e']) store.set(aThing(name, 1))
  t.strictSame(names(store.after('color', 'red', undefined, 2)), ['a', 'b'])
  store.delete('default/b')
  t.strictSame(names(store.after('color', 'red', 'b', 2)), ['c', 'd'])
  t.strictSame(names(store.after('color', 'red', 'd', 2)), ['e'])
  t.strictSame(store.after('color', 'blue', undefined, 2), [])
  const left = ['', 'a', 'b', 'd', 'x'].map((cursor) => store.countAfter('color', 'red', cursor))
  t.strictSame(left, [4, 3, 3, 1, 0])
  t.equal(store.countAfter('color', 'blue', 'a'), 0)
})
