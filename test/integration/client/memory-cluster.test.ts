// The rules of the API server that tests of controllers rest on: on a real API server, and on the one in memory that stands for it.

import t from 'tap'
import { screenshots, secrets, webhooks } from '../../../crds/client/kinds.ts'
import { isAlreadyExists, isConflict, isInvalid, isNotFound, isPatchFailed } from '../../../crds/client/kube-error.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { jsonPatch, mergePatch, pointer, Resource } from '../../../crds/client/resource.ts'
import { eventually } from '../../support/eventually.ts'
import { MemoryCluster } from '../../support/fakes/memory-cluster.ts'
import { startPlane } from './plane.ts'

const plane = await startPlane(t)
const entry = { attempts: 1, at: '2026-11-21T12:00:00.000Z', state: 'open' as const }
const ofStatus = { subresource: 'status' } as const
const errorOf = (call: Promise<unknown>): Promise<unknown> => call.then(() => undefined).catch((error: unknown) => error)

for (const [server, http] of [
  ['a real API server', plane.connect(t)],
  ['the API server in memory', new MemoryCluster().http],
] as const) {
  const shots = new Resource(http, screenshots)
  const hooks = new Resource(http, webhooks)
  const create = (name: string, metadata: { finalizers?: string[] } = {}) =>
    shots.create({ metadata: { name, ...metadata }, spec: { url: 'https://example.com/' }, status: { phase: 'Completed' } })
  const deliveriesPatch = (uid: string, tests: Record<string, unknown>, path = '/status/deliveries/screenshot.completed/hook') =>
    jsonPatch([{ op: 'add', path, value: path.endsWith('hook') ? entry : { 'screenshot.completed': { hook: entry } } }], {
      '/metadata/uid': uid,
      ...tests,
    })

  t.test(`${server} gives a new object its metadata, and no status`, async (t) => {
    const { metadata, status } = await create('fresh')
    t.match(metadata, { name: 'fresh', namespace: http.namespace, uid: String, generation: 1, creationTimestamp: /:\d\dZ$/ })
    t.notMatch(status, { phase: 'Completed' })
    t.ok(isAlreadyExists(await errorOf(create('fresh'))))
    const named = await shots.create({ metadata: { generateName: 'named-' }, spec: { url: 'https://example.com/' } })
    t.match(named.metadata.name, /^named-./)
    t.ok(isNotFound(await errorOf(shots.get('absent'))))
    t.equal(await shots.find('absent'), undefined)
  })

  t.test(`${server} writes the status and the rest apart, and counts generations of the spec`, async (t) => {
    await hooks.create({ metadata: { name: 'apart' }, spec: { url: 'https://example.com/', events: ['screenshot.failed'] } })
    const both = mergePatch({ spec: { description: 'new' }, status: { url: 'a' } })
    const ended = await hooks.patch('apart', both, ofStatus)
    t.match(ended, { status: { url: 'a' }, spec: { description: undefined }, metadata: { generation: 1 } })
    const changed = await hooks.patch('apart', mergePatch({ spec: { description: 'new' }, status: { url: 'b' } }))
    t.match(changed, { spec: { description: 'new' }, status: { url: 'a' }, metadata: { generation: 2 } })
    const replaced = await hooks.replaceStatus({ ...changed, status: { signingSecretName: 'c' } })
    t.strictSame(replaced.status, { signingSecretName: 'c' })
    t.ok(isConflict(await errorOf(hooks.replaceStatus({ ...changed, status: { url: 'd' } }))), 'it is based on an older version')
    t.ok(isInvalid(await errorOf(hooks.patch('apart', mergePatch({ spec: { description: 'other' } }, { uid: 'another' })))))
  })

  t.test(`${server} merges patches: null removes a field, an older version conflicts, and nothing new is no write`, async (t) => {
    await create('merged')
    const status = { phase: 'Running', attempt: 2, runner: { pod: 'p', uid: 'u' } } as const
    const first = await shots.patch('merged', mergePatch({ status }), ofStatus)
    const { resourceVersion } = first.metadata
    const second = await shots.patch(
      'merged',
      mergePatch({ status: { attempt: null, runner: { pod: 'q' } } }, { resourceVersion }),
      ofStatus,
    )
    t.strictSame(second.status, { phase: 'Running', runner: { pod: 'q', uid: 'u' } })
    t.ok(isConflict(await errorOf(shots.patch('merged', mergePatch({ status }, { resourceVersion }), ofStatus))))
    const same = await shots.patch('merged', mergePatch({ status: { phase: 'Running' } }), ofStatus)
    t.equal(same.metadata.resourceVersion, second.metadata.resourceVersion)
    t.ok(isNotFound(await errorOf(shots.patch('absent', mergePatch({ status }), ofStatus))))
  })

  t.test(`${server} applies a JSON patch as a whole, or not at all if a test fails`, async (t) => {
    const { metadata } = await create('tested')
    const root = '/status/deliveries'
    await shots.patch('tested', mergePatch({ status: { phase: 'Completed' } }), ofStatus)
    const refused = [
      deliveriesPatch('another', { [root]: null }, root),
      deliveriesPatch(metadata.uid, { [root]: {} }, root),
      deliveriesPatch(metadata.uid, {}),
    ]
    for (const patch of refused) t.ok(isPatchFailed(await errorOf(shots.patch('tested', patch, ofStatus))))
    t.equal((await shots.get('tested')).status?.deliveries, undefined)
    await shots.patch('tested', deliveriesPatch(metadata.uid, { [root]: null }, root), ofStatus)
    t.ok(isPatchFailed(await errorOf(shots.patch('tested', deliveriesPatch(metadata.uid, { [root]: null }, root), ofStatus))))
    const path = `${root}/screenshot.completed/hook`
    const { state, at, attempts } = entry
    const next = jsonPatch([{ op: 'replace', path: `${path}/state`, value: 'ok' }], { [path]: { state, at, attempts } })
    const after = await shots.patch('tested', next, ofStatus)
    t.equal(after.status?.deliveries?.['screenshot.completed']?.hook?.state, 'ok', 'the order of fields does not matter')
  })

  t.test(`${server} sets a field whose name needs no pointer by a merge patch, and one that does by a JSON patch`, async (t) => {
    const maps = new Resource(http, secrets)
    await maps.create({ metadata: { name: 'labelled', labels: { 'tintype.dev/hash-1': 'old' } } })
    await maps.patch('labelled', jsonPatch([{ op: 'replace', path: pointer('metadata', 'labels', 'tintype.dev/hash-1'), value: 'new' }]))
    const { metadata } = await maps.patch('labelled', mergePatch({ metadata: { labels: { 'tintype.dev/hash-2': 'more' } } }))
    t.strictSame(metadata.labels, { 'tintype.dev/hash-1': 'new', 'tintype.dev/hash-2': 'more' })
  })

  t.test(`${server} deletes an object with the right uid and version, and keeps it until its finalizers are gone`, async (t) => {
    const { metadata } = await create('doomed')
    const { uid, resourceVersion } = metadata
    for (const wrong of [{ uid: '00000000-0000-0000-0000-000000000000' }, { resourceVersion: '1' }])
      t.ok(isConflict(await errorOf(shots.delete('doomed', wrong))))
    await shots.delete('doomed', { uid, resourceVersion })
    t.ok(isNotFound(await errorOf(shots.delete('doomed'))))
    t.not((await create('doomed')).metadata.uid, uid)

    await create('kept', { finalizers: ['example.com/keep'] })
    await shots.delete('kept')
    t.match((await shots.get('kept')).metadata, { deletionTimestamp: /Z$/, finalizers: ['example.com/keep'] })
    await shots.patch('kept', mergePatch({ metadata: { finalizers: null } }))
    t.equal(await shots.find('kept'), undefined)
  })

  t.test(`${server} lists and watches objects by their labels, each change once and in order`, async (t) => {
    const store = new Resource(http, secrets)
    const seen: string[] = []
    await store.create({ metadata: { name: 'before', labels: { team: 'red' } } })
    await store.create({ metadata: { name: 'other', labels: { team: 'blue' } } })
    const reflector = new Reflector({ http, resource: secrets, labelSelector: 'team=red' })
    reflector.addListener(({ type, object, source }) => seen.push(`${type} ${object.metadata.name} ${source}`))
    reflector.start()
    t.teardown(() => reflector.stop())
    await reflector.whenSynced()
    await store.create({ metadata: { name: 'after', labels: { team: 'red' } } })
    await store.create({ metadata: { name: 'third', labels: {} } })
    await store.patch('after', mergePatch({ metadata: { annotations: { note: 'x' } } }))
    await store.delete('before')
    await eventually('all changes are there', async () => seen.length === 4)
    t.strictSame(seen, ['added before list', 'added after watch', 'modified after watch', 'deleted before watch'])
    t.match(reflector.lister.get(`${http.namespace}/after`), { kind: 'Secret', metadata: { annotations: undefined } }, 'as caches keep it')
  })
}

t.test('a json patch that the schema rejects is distinguished from one that did not apply', async (t) => {
  const shots = new Resource(plane.connect(t), screenshots)
  await shots.create({ metadata: { name: 'schema' }, spec: { url: 'https://example.com/' } })
  await shots.patch('schema', mergePatch({ status: { phase: 'Running' } }), { subresource: 'status' })
  const wrong = jsonPatch([{ op: 'replace', path: '/status/phase', value: 'Ended' }], { '/status/phase': 'Running' })
  const error = await shots.patch('schema', wrong, { subresource: 'status' }).catch((error: unknown) => error)
  t.ok(isInvalid(error))
  t.notOk(isPatchFailed(error))
  const beside = jsonPatch([{ op: 'add', path: '/status/deliveries/nowhere/hook', value: {} }])
  t.ok(isPatchFailed(await shots.patch('schema', beside, { subresource: 'status' }).catch((error: unknown) => error)))
})
