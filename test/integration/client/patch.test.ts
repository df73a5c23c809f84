import t from 'tap'
import { configMaps } from '../../../crds/client/core-resources.ts'
import { screenshots } from '../../../crds/client/kinds.ts'
import { isInvalid, isPatchFailed } from '../../../crds/client/kube-error.ts'
import { jsonPatch, mergePatch, pointer } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { startPlane } from './plane.ts'

const plane = await startPlane(t)
const client = new Resource(plane.connect(t), screenshots)

// test/integration/client/memory-cluster.test.ts has failed tests of patches, preconditions, and merges.

t.test('a json patch that the schema rejects is distinguished from one that did not apply', async (t) => {
  await client.create({ metadata: { name: 'schema' }, spec: { url: 'https://example.com/' } })
  await client.patch('schema', mergePatch({ status: { phase: 'Running' } }), { subresource: 'status' })
  const wrong = jsonPatch([{ op: 'replace', path: '/status/phase', value: 'Ended' }], { '/status/phase': 'Running' })
  const error = await client.patch('schema', wrong, { subresource: 'status' }).catch((error: unknown) => error)
  t.ok(isInvalid(error))
  t.notOk(isPatchFailed(error))
  const beside = jsonPatch([{ op: 'add', path: '/status/deliveries/nowhere/hook', value: {} }])
  t.ok(isPatchFailed(await client.patch('schema', beside, { subresource: 'status' }).catch((error: unknown) => error)))
})

t.test('merge patch sets a field whose name needs no pointer, json patch one that does', async (t) => {
  const maps = new Resource(plane.connect(t), configMaps)
  await maps.create({ metadata: { name: 'labelled', labels: { 'tintype.dev/hash-1': 'old' } } })
  await maps.patch('labelled', jsonPatch([{ op: 'replace', path: pointer('metadata', 'labels', 'tintype.dev/hash-1'), value: 'new' }]))
  const { metadata } = await maps.patch('labelled', mergePatch({ metadata: { labels: { 'tintype.dev/hash-2': 'more' } } }))
  t.strictSame(metadata.labels, { 'tintype.dev/hash-1': 'new', 'tintype.dev/hash-2': 'more' })
})
