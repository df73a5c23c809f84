import t from 'tap'
import { apiKeys, configMaps, namespaces, screenshots, webhooks } from '../../../crds/client/kinds.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { API_VERSION } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { chartDirectory, helm } from '../../support/sources/chart.ts'
import { installRelease, NAMESPACE, whenInForce } from './release.ts'

// Tests who may delete objects of an account, on a real API server with a real garbage collector and namespace controller.

const release = await installRelease(t, { own: true })
await release.createAccounts('acme', 'other')
const adminShots = new Resource(release.admin, screenshots)
const adminHooks = new Resource(release.admin, webhooks)
const adminKeys = new Resource(release.admin, apiKeys)

const ann = await release.asWriter('ann', ['acme'])
const shots = new Resource(ann, screenshots)
const hooks = new Resource(ann, webhooks)
const keys = new Resource(ann, apiKeys)

const url = 'https://example.com/'
const hook = { url, events: ['screenshot.completed' as const] }
const refused = { status: 403, message: /not allowed to use the account other\. Ask for the verb use on accounts\/other/ }
const policies = ['Background', 'Foreground', 'Orphan'] as const

await release.plane.startControllers()
const forOther = () => shots.create({ metadata: { name: `probe-${Date.now()}` }, spec: { url, accountName: 'other' } })
await whenInForce(forOther)

/** One object of each kind for an account. */
async function oneOfEach(name: string, accountName: string, labels: Record<string, string> = {}) {
  await adminShots.create({ metadata: { name, labels }, spec: { url, accountName } })
  await adminHooks.create({ metadata: { name, labels }, spec: { ...hook, accountName } })
  await adminKeys.create({ metadata: { name, labels }, spec: { accountName } })
}

const countLeft = async (name: string) =>
  (await Promise.all([adminShots.find(name), adminHooks.find(name), adminKeys.find(name)])).filter((found) => found !== undefined).length

for (const propagationPolicy of policies) {
  const name = propagationPolicy.toLowerCase()
  t.test(`policy rejects ${name} deletion of objects of another account`, async (t) => {
    await oneOfEach(`foreign-${name}`, 'other')
    for (const kind of [shots, hooks, keys]) await t.rejects(kind.delete(`foreign-${name}`, { propagationPolicy }), refused)
    t.equal(await countLeft(`foreign-${name}`), 3)
  })

  t.test(`policy lets users delete objects of an account that they may use, by ${name} deletion`, async () => {
    await oneOfEach(`own-${name}`, 'acme')
    for (const kind of [shots, hooks, keys]) await kind.delete(`own-${name}`, { propagationPolicy })
    // The garbage collector removes the finalizers of foreground and orphan deletion.
    await eventually('all objects are deleted', async () => (await countLeft(`own-${name}`)) === 0)
  })
}

t.test('finalizers of the garbage collector do not keep objects', async () => {
  for (const finalizer of ['foregroundDeletion', 'orphan']) {
    const name = `collected-${finalizer.toLowerCase()}`
    await oneOfEach(name, 'acme')
    for (const kind of [shots, hooks, keys] as unknown as Resource<KubeObject>[]) {
      await kind.patch(name, mergePatch({ metadata: { finalizers: [finalizer] } }))
      await kind.delete(name)
    }
    await eventually(`${finalizer} is gone`, async () => (await countLeft(name)) === 0)
  }
})

t.test('policy treats an object without an account as one of the default account when it is deleted', async (t) => {
  await adminShots.create({ metadata: { name: 'unnamed' }, spec: { url } })
  await t.rejects(shots.delete('unnamed'), { status: 403, message: /accounts\/default/ })
})

t.test('policy checks each object of a deleted collection', async (t) => {
  const path = `/apis/${API_VERSION}/namespaces/${NAMESPACE}/screenshots`
  const deleteAll = (set: string) => ann.request({ method: 'DELETE', path, query: { labelSelector: `set=${set}` } })
  await oneOfEach('mine', 'acme', { set: 'mine' })
  await oneOfEach('theirs', 'other', { set: 'theirs' })
  await t.rejects(deleteAll('theirs'), refused)
  t.ok(await adminShots.find('theirs'))
  await deleteAll('mine')
  t.notOk(await adminShots.find('mine'))
})

t.test('policy lets the garbage collector delete objects whose owner was deleted', async () => {
  const owners = new Resource(release.admin, configMaps)
  const { metadata } = await owners.create({ metadata: { name: 'owner' } })
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid ?? '' }]
  await adminShots.create({ metadata: { name: 'owned', ownerReferences }, spec: { url, accountName: 'other' } })
  await adminHooks.create({ metadata: { name: 'owned', ownerReferences }, spec: { ...hook, accountName: 'other' } })
  await adminKeys.create({ metadata: { name: 'owned', ownerReferences }, spec: { accountName: 'other' } })
  await owners.delete('owner')
  await eventually('all objects are deleted', async () => (await countLeft('owned')) === 0)
})

t.test('helm uninstall works while accounts have objects, which then depend on RBAC only', async (t) => {
  await oneOfEach('after-release', 'other')
  const environment = { KUBECONFIG: release.kubeconfigPath }
  await helm(['uninstall', 'tintype', '--no-hooks', '--wait', '--namespace', NAMESPACE], environment)
  t.equal(await countLeft('after-release'), 3)
  await eventually('the policy is deleted', async () =>
    shots.delete('after-release').then(
      () => true,
      () => false,
    ),
  )
  t.equal(await countLeft('after-release'), 2)
  await helm(
    ['install', 'tintype', chartDirectory, '--set', 'image.registry=registry.example/tintype', '--no-hooks', '--namespace', NAMESPACE],
    environment,
  )
  await whenInForce(forOther)
})

t.test('policy lets a namespace be deleted with all its objects', async () => {
  await oneOfEach('last', 'other')
  const all = new Resource(release.admin, namespaces)
  await all.delete(NAMESPACE)
  await eventually('the namespace is deleted', async () => (await all.find(NAMESPACE)) === undefined)
})
