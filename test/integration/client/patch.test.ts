import t from 'tap'
import { configMaps } from '../../../crds/client/core-resources.ts'
import { screenshots } from '../../../crds/client/kinds.ts'
import { isConflict, isInvalid, isNotFound, isPatchFailed } from '../../../crds/client/kube-error.ts'
import { jsonPatch, mergePatch, pointer } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { startPlane } from './plane.ts'

const plane = await startPlane(t)
const client = new Resource(plane.connect(t), screenshots)

/** A Screenshot that runner `pod-uid` has claimed. */
async function aClaimedScreenshot(name: string) {
  const created = await client.create({ metadata: { name }, spec: { url: 'https://example.com/' } })
  const claim = { phase: 'Running', attempt: 1, runner: { pod: 'runner-1', uid: 'pod-uid' } }
  return client.patch(name, mergePatch({ status: claim }, { resourceVersion: created.metadata.resourceVersion }), { subresource: 'status' })
}

/** The runner's report, which requires its claim. */
const report = (uid: string) =>
  jsonPatch([{ op: 'replace', path: '/status/phase', value: 'Completed' }], {
    '/status/runner/uid': uid,
    '/status/attempt': 1,
    '/status/phase': 'Running',
  })

t.test('json patch returns 422 and writes nothing when the claim is lost', async (t) => {
  const { metadata } = await aClaimedScreenshot('lost')
  await t.rejects(client.patch('lost', report('another-uid'), { subresource: 'status' }), { name: 'KubeError', status: 422 })
  const error = await client.patch('lost', report('another-uid'), { subresource: 'status' }).catch((error: unknown) => error)
  t.ok(isPatchFailed(error))
  const after = await client.get('lost')
  t.equal(after.metadata.resourceVersion, metadata.resourceVersion)
  t.equal(after.status?.phase, 'Running')
})

t.test('a json patch that the schema rejects is distinguished from one that did not apply', async (t) => {
  await aClaimedScreenshot('schema')
  const wrong = jsonPatch([{ op: 'replace', path: '/status/phase', value: 'Ended' }], { '/status/phase': 'Running' })
  const error = await client.patch('schema', wrong, { subresource: 'status' }).catch((error: unknown) => error)
  t.ok(isInvalid(error))
  t.notOk(isPatchFailed(error))
  const beside = jsonPatch([{ op: 'add', path: '/status/deliveries/nowhere/hook', value: {} }])
  t.ok(isPatchFailed(await client.patch('schema', beside, { subresource: 'status' }).catch((error: unknown) => error)))
})

t.test('json patch returns 422 when it is repeated after it was applied', async (t) => {
  await aClaimedScreenshot('repeated')
  await client.patch('repeated', report('pod-uid'), { subresource: 'status' })
  t.ok(isInvalid(await client.patch('repeated', report('pod-uid'), { subresource: 'status' }).catch((error: unknown) => error)))
})

t.test('json patch distinguishes objects of the same name by the uid', async (t) => {
  const { metadata } = await aClaimedScreenshot('reborn')
  const patch = (uid: string) => jsonPatch([{ op: 'replace', path: '/status/attempt', value: 2 }], { '/metadata/uid': uid })
  t.ok(isInvalid(await client.patch('reborn', patch('another'), { subresource: 'status' }).catch((error: unknown) => error)))
  t.equal((await client.patch('reborn', patch(metadata.uid), { subresource: 'status' })).status?.attempt, 2)
})

t.test('merge patch sets a field whose name needs no pointer, json patch one that does', async (t) => {
  const maps = new Resource(plane.connect(t), configMaps)
  await maps.create({ metadata: { name: 'labelled', labels: { 'tintype.dev/hash-1': 'old' } } })
  await maps.patch('labelled', jsonPatch([{ op: 'replace', path: pointer('metadata', 'labels', 'tintype.dev/hash-1'), value: 'new' }]))
  const { metadata } = await maps.patch('labelled', mergePatch({ metadata: { labels: { 'tintype.dev/hash-2': 'more' } } }))
  t.strictSame(metadata.labels, { 'tintype.dev/hash-1': 'new', 'tintype.dev/hash-2': 'more' })
})

t.test('delete returns 409 for another uid or resourceVersion, and 404 for a missing object', async (t) => {
  const { metadata } = await aClaimedScreenshot('meant')
  const outcome = (options: Parameters<typeof client.delete>[1]) => client.delete('meant', options).catch((error: unknown) => error)
  t.ok(isConflict(await outcome({ uid: '00000000-0000-0000-0000-000000000000' })))
  t.ok(isConflict(await outcome({ resourceVersion: '1' })))
  t.equal(await outcome({ uid: metadata.uid, resourceVersion: metadata.resourceVersion }), undefined)
  t.ok(isNotFound(await outcome({})))
})
