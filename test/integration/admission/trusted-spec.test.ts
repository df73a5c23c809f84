import t from 'tap'
import { namespaces } from '../../../crds/client/core-resources.ts'
import { apiKeys, screenshotSchedules, screenshots, webhooks } from '../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { KubeObject } from '../../../crds/client/kube-object.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { installRelease, NAMESPACE, whenInForce } from './release.ts'

// Tests who may create objects for an account and who may write their status, on a real API server with the chart's roles and policies.

const release = await installRelease(t)
await release.createAccounts('default', 'acme', 'other')

const url = 'https://example.com/'
const ELSEWHERE = `${NAMESPACE}-elsewhere`
const ann = await release.asWriter('ann', ['acme'])
const bob = await release.asWriter('bob', ['default'])
const shots = new Resource(ann, screenshots)
const schedules = new Resource(ann, screenshotSchedules)
const hooks = new Resource(ann, webhooks)
const keys = new Resource(ann, apiKeys)
const hook = { url, events: ['screenshot.completed' as const] }
const refused = (account: string) => ({
  status: 403,
  message: new RegExp(`not allowed to use the account ${account}\\. Ask for the verb use on accounts/${account}`),
})

await whenInForce(() => shots.create({ metadata: { name: `probe-${Date.now()}` }, spec: { url, accountName: 'other' } }))

const accountName = 'acme'
/** The four kinds as ann writes them, and the spec of one object. */
const ownKinds = [
  { kind: shots, spec: { url, accountName } },
  { kind: schedules, spec: { schedule: '@daily', template: { url }, accountName } },
  { kind: hooks, spec: { ...hook, accountName } },
  { kind: keys, spec: { accountName } },
] as unknown as { kind: Resource<KubeObject>; spec: object }[]
for (const { kind, spec } of ownKinds) {
  const { definition } = kind
  t.test(`policy lets users write a ${definition.kind} of an account that they may use, and of no other, nor move it`, async (t) => {
    const create = (name: string, accountName: string, by = kind) =>
      by.create({ metadata: { name }, spec: { ...spec, accountName } } as object)
    t.ok(await create('own', 'acme'))
    const request = { annotations: { 'tintype.dev/delete-requested': 'now' } }
    for (const metadata of [{ labels: { team: 'red' } }, request]) t.ok(await kind.patch('own', mergePatch({ metadata })))
    await t.rejects(create('foreign', 'other'), refused('other'))
    await create('taken', 'other', new Resource(release.admin, definition))
    for (const metadata of [{ labels: { 'tintype.dev/hash-2': 'mine' } }, request])
      await t.rejects(kind.patch('taken', mergePatch({ metadata })), refused('other'))
    await t.rejects(kind.delete('taken'), refused('other'))
    if (definition.kind === 'Screenshot') return
    await t.rejects(kind.patch('own', mergePatch({ spec: { accountName: 'other' } })), refused('other'))
    await t.rejects(kind.patch('taken', mergePatch({ spec: { accountName: 'acme' } })), refused('other'))
  })
}

t.test('policy treats an object without an account as one of the default account', async (t) => {
  await t.rejects(shots.create({ metadata: { name: 'unnamed' }, spec: { url } }), refused('default'))
  t.ok(await new Resource(bob, screenshots).create({ metadata: { name: 'unnamed' }, spec: { url } }))
})

t.test('policy rejects changes of finalizers and owners of another account’s objects', async (t) => {
  await new Resource(release.admin, webhooks).create({ metadata: { name: 'foreign-owned' }, spec: { ...hook, accountName: 'other' } })
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'any', uid: 'any' }
  await t.rejects(hooks.patch('foreign-owned', mergePatch({ metadata: { finalizers: ['example.com/held'] } })), refused('other'))
  await t.rejects(hooks.patch('foreign-owned', mergePatch({ metadata: { ownerReferences: [owner] } })), refused('other'))
  t.ok(await hooks.patch('own', mergePatch({ metadata: { ownerReferences: [owner] } })), 'control: the user’s own object')
  t.ok(await hooks.patch('own', mergePatch({ metadata: { ownerReferences: null } })))
})

t.test('policy rejects changes of nothing but managed fields, which say whose apply may remove a field', async (t) => {
  const theirs = new Resource(release.admin, webhooks)
  await theirs.create({ metadata: { name: 'foreign-managed' }, spec: { ...hook, accountName: 'other' } })
  const before = (await theirs.get('foreign-managed')).metadata
  const apply = (client: KubeHttp, name: string, fieldManager: string, accountName: string) =>
    client.request({
      method: 'PATCH',
      path: hooks.pathOf(name),
      query: { fieldManager, force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', metadata: { name }, spec: { ...hook, accountName } },
    })
  await t.rejects(hooks.patch('foreign-managed', mergePatch({ metadata: { managedFields: [{}] } })), refused('other'))
  await t.rejects(apply(ann, 'foreign-managed', 'mine', 'other'), refused('other'), 'an apply of the same values')
  t.strictSame((await theirs.get('foreign-managed')).metadata, before)
  t.ok(await hooks.patch('foreign-managed', mergePatch({ spec: { url } })), 'a change of nothing')
  t.ok(await apply(ann, 'own', 'mine', 'acme'), 'control: the user’s own object')
  t.ok(await hooks.patch('own', mergePatch({ metadata: { managedFields: [{}] } })))
})

t.test('policy lets the cluster’s controllers change metadata of all objects', async (t) => {
  for (const user of [
    'system:serviceaccount:kube-system:generic-garbage-collector',
    'system:serviceaccount:kube-system:namespace-controller',
    'system:kube-controller-manager',
  ]) {
    const client = new Resource(await release.asWriter(user, []), webhooks)
    await eventually(`${user} may read`, async () => (await client.find('own').catch(() => undefined)) !== undefined)
    t.ok(await client.patch('own', mergePatch({ metadata: { finalizers: ['example.com/held'] } })), user)
    t.ok(await client.patch('own', mergePatch({ metadata: { finalizers: null } })), user)
  }
})

for (const { kind, spec } of ownKinds) {
  const { definition } = kind
  const create = (name: string, finalizers: string[] = [], by = kind) => by.create({ metadata: { name, finalizers }, spec } as object)
  const finalize = (name: string, finalizers: string[] | null, by = kind) => by.patch(name, mergePatch({ metadata: { finalizers } }))

  t.test(`policy rejects finalizers that would keep a deleted ${definition.kind} forever`, async (t) => {
    await create('kept')
    const held = ['example.com/held']
    const message = { status: 403, message: /metadata.finalizers: .* keep a deleted object forever. Remove example.com\/held/ }
    await t.rejects(create('held', held), message)
    await t.rejects(finalize('kept', held), message)
    await t.rejects(finalize('kept', held, new Resource(release.admin, definition)), message)
    for (const finalizer of ['foregroundDeletion', 'orphan']) {
      t.ok(await create(`collected-${finalizer.toLowerCase()}`, [finalizer]))
      t.ok(await finalize('kept', [finalizer]))
    }
  })

  t.test(`a finalizer that a ${definition.kind} has already may stay, and users may remove it`, async (t) => {
    const { http } = await release.asPod('tintype-api-gateway', `gateway-${definition.plural}`)
    const [old, other] = ['example.com/old', 'example.com/other']
    await create('before', [old, other], new Resource(http, definition))
    t.ok(await kind.patch('before', mergePatch({ metadata: { annotations: { note: 'changed' } } })))
    await t.rejects(finalize('before', [old, other, 'example.com/new']), { status: 403, message: /Remove example.com\/new$/ })
    t.strictSame((await finalize('before', [old])).metadata.finalizers, [old])
    await kind.delete('before')
    t.ok((await kind.get('before')).metadata.deletionTimestamp)
    await finalize('before', null)
    t.equal(await kind.find('before'), undefined)
  })
}

t.test('policy lets only the gateway create names that contain a time', async (t) => {
  const reserved = { status: 403, message: /only the gateway may create names of scr- and 26 characters.* Choose another name/ }
  const future = 'scr-00000000000000000000000000'
  for (const name of [future, toObjectName(newId('scr', new Date()))])
    await t.rejects(shots.create({ metadata: { name }, spec: { url, accountName: 'acme' } }), reserved)
  for (const name of ['scr-front-page', 'scr-80000000000000000000000000', `${future}0`])
    t.ok(await shots.create({ metadata: { name }, spec: { url, accountName: 'acme' } }), `control: ${name}`)
  const { http } = await release.asPod('tintype-api-gateway', 'gateway-names')
  const name = toObjectName(newId('scr', new Date()))
  t.ok(await new Resource(http, screenshots).create({ metadata: { name }, spec: { url, accountName: 'acme' } }))
  t.ok(await shots.patch(name, mergePatch({ metadata: { annotations: { note: 'mine' } } })), 'an update keeps its name')
})

t.test('links of a deleted key worked again when a user of another account created a key of its name', async (t) => {
  const made = (name: string) => ({ metadata: { name }, spec: { accountName: 'acme' } }) as never
  const id = toObjectName(newId('key', new Date()))
  const refused = { status: 403, message: /key- and 26 characters, links of a deleted key would work again\. Choose another name/ }
  await t.rejects(keys.create(made(id)), refused)
  for (const name of ['key-ci', `${id}0`]) t.ok(await keys.create(made(name)), `control: ${name}`)
  t.ok(await new Resource(release.admin, apiKeys).create(made(id)), 'control: an administrator who restores a backup')
  t.ok(await keys.patch(id, mergePatch({ spec: { name: 'mine' } })), 'an update keeps its name')
})

t.test('policy does not restrict the gateway, which has checked the key', async (t) => {
  const { http } = await release.asPod('tintype-api-gateway', 'gateway-1')
  t.ok(await new Resource(http, screenshots).create({ metadata: { name: 'by-gateway' }, spec: { url, accountName: 'other' } }))
})

t.test('role of the chart lets an editor of the namespace use its accounts, and a viewer only read', async (t) => {
  await release.grant('editor', 'tintype-edit')
  await release.grant('viewer', 'tintype-view')
  const editor = new Resource(await release.asUser('editor'), screenshots)
  const viewer = new Resource(await release.asUser('viewer'), screenshots)
  await eventually('the role is in force', async () => (await viewer.list().catch(() => undefined)) !== undefined)
  t.ok(await editor.create({ metadata: { name: 'by-editor' }, spec: { url, accountName: 'other' } }))
  await t.rejects(viewer.create({ metadata: { name: 'by-viewer' }, spec: { url } }), { status: 403, message: /cannot create/ })
})

t.test('policy lets only users of all accounts grant the scope over all accounts', async (t) => {
  const refusal = { status: 403, message: /admin:read covers all accounts/ }
  await t.rejects(keys.create({ metadata: { name: 'admin' }, spec: { accountName: 'acme', scopes: ['admin:read'] } }), refusal)
  await t.rejects(keys.patch('own', mergePatch({ spec: { scopes: ['*', 'admin:read'] } })), refusal)
  await release.permit('eve', 'use-eve', { resources: ['accounts'], verbs: ['use'] })
  await release.permit('eve', 'write-eve', { resources: ['apikeys'], verbs: ['create', 'patch'] })
  const all = new Resource(await release.asUser('eve'), apiKeys)
  const granted = await eventually('the roles are in force', () =>
    all.create({ metadata: { name: 'admin' }, spec: { accountName: 'acme', scopes: ['*', 'admin:read'] } }).catch(() => undefined),
  )
  t.strictSame(granted.spec.scopes, ['*', 'admin:read'])
  // A new text for the key would also give its scopes to the user of one account.
  await t.rejects(keys.patch('admin', mergePatch({ spec: { secretName: 'mine' } })), refusal)
})

const instant = '2026-01-01T00:00:00Z'
/** A status of each kind that would deceive the programs: a result of another record, sessions that end, a foreign picture, a foreign Secret. */
const forged = {
  screenshots: { restoredFrom: 'scr_00000000000000000000000000' },
  apikeys: { sessionsNotBefore: instant },
  screenshotschedules: { baseline: { id: 'scr_00000000000000000000000000', time: instant, key: 'baselines/other', etag: 'x' } },
  webhooks: { signingSecretName: 'theirs' },
}
type Plural = keyof typeof forged
const PLURALS = Object.keys(forged) as Plural[]
const STATUSES = PLURALS.map((plural) => `${plural}/status`)
const onlyPrograms = {
  status: 403,
  message: /status: only the programs of the release may write it.* ask for the verb repair on all accounts/,
}

await new Resource(release.admin, screenshots).create({ metadata: { name: 'status-other' }, spec: { url, accountName: 'other' } })
await new Resource(release.admin, screenshots).create({ metadata: { name: 'status-acme' }, spec: { url, accountName: 'acme' } })
for (const accountName of ['other', 'acme']) {
  const metadata = { name: `status-${accountName}` }
  await new Resource(release.admin, webhooks).create({ metadata, spec: { ...hook, accountName } })
  await new Resource(release.admin, apiKeys).create({ metadata, spec: { accountName } })
  await new Resource(release.admin, screenshotSchedules).create({ metadata, spec: { accountName, schedule: '@daily', template: { url } } })
}

function patchStatus(http: KubeHttp, plural: Plural, name: string, status: object, namespace = http.namespace) {
  const { contentType, body } = mergePatch({ status })
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}/status`
  return http.request<{ status?: object }>({ method: 'PATCH', path, body, contentType })
}

/** A user of the account acme with all verbs on the status of every kind. */
async function aStatusWriter(user: string) {
  await release.permit(user, `status-${user}`, { resources: STATUSES, verbs: ['*'] })
  await release.permit(user, `account-${user}`, { resources: ['accounts'], resourceNames: ['acme'], verbs: ['use', 'repair'] })
  return release.asUser(user)
}

t.test('a user of one account cannot write the status of another account’s objects, nor of the user’s own', async (t) => {
  const writer = await aStatusWriter('mallory')
  await eventually('the roles are in force', () =>
    writer
      .request({ method: 'GET', path: `/apis/tintype.dev/v1alpha1/namespaces/${NAMESPACE}/webhooks/status-acme/status` })
      .catch(() => false),
  )
  for (const plural of PLURALS)
    for (const name of ['status-other', 'status-acme'])
      await t.rejects(patchStatus(writer, plural, name, forged[plural]), onlyPrograms, `${plural} ${name}`)
  const own = await new Resource(release.admin, webhooks).get('status-acme')
  await t.rejects(new Resource(writer, webhooks).replaceStatus({ ...own, status: { url: 'x' } }), onlyPrograms, 'an update')
  const path = `/apis/tintype.dev/v1alpha1/namespaces/${NAMESPACE}/webhooks/status-acme/status`
  const body = { apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', metadata: { name: 'status-acme' }, status: { url: 'x' } }
  const query = { fieldManager: 'me', force: 'true' }
  const apply = { method: 'PATCH', path, body, contentType: 'application/apply-patch+yaml', query } as const
  await t.rejects(writer.request(apply), onlyPrograms, 'server-side apply')
})

t.test('operator and gateway can write only the status that they own', async (t) => {
  const { http: operator } = await release.asPod('tintype-operator', 'operator-status')
  const { http: gateway } = await release.asPod('tintype-api-gateway', 'gateway-status')
  const conditions = [{ type: 'Ready', status: 'True', reason: 'Ready', message: 'ready', lastTransitionTime: instant }]
  for (const plural of PLURALS) {
    t.ok(await patchStatus(operator, plural, 'status-other', { conditions }), `the operator sets conditions of ${plural}`)
    if (plural !== 'apikeys')
      t.ok(await patchStatus(operator, plural, 'status-other', forged[plural]), `the operator owns ${plural}/status`)
  }
  const onlyOwn = { status: 403, message: /may change only \[conditions, secretText\] of apikeys\. Remove other fields/ }
  await t.rejects(patchStatus(operator, 'apikeys', 'status-other', forged.apikeys), onlyOwn)
  t.ok(await patchStatus(gateway, 'apikeys', 'status-other', { ...forged.apikeys, lastUsedTime: instant }))
  const onlyTimes = { status: 403, message: /may change only \[lastUsedTime, sessionsNotBefore\] of apikeys\. Remove other fields/ }
  await t.rejects(patchStatus(gateway, 'apikeys', 'status-other', { conditions: [] }), onlyTimes, 'a changed field')
  await t.rejects(patchStatus(gateway, 'apikeys', 'status-other', { conditions: null }), onlyTimes, 'a removed field')
  t.match(await patchStatus(operator, 'apikeys', 'status-other', { conditions: [] }), { status: forged.apikeys }, 'fields of others stay')
  // Its role allows no other status. The policy holds for a role that was widened by mistake.
  await release.grantEverything('tintype-api-gateway')
  for (const plural of PLURALS.filter((plural) => plural !== 'apikeys')) {
    const widened = () => patchStatus(gateway, plural, 'status-other', { conditions: [] }).catch((error: Error) => error)
    const refusal = await eventually('the role is in force', async () => {
      const found = await widened()
      return found instanceof Error && !found.message.includes('cannot patch') && found
    })
    t.match(refusal, { status: 403, message: new RegExp(`may change only \\[\\] of ${plural}`) }, plural)
  }
})

t.test('administrators with the verb repair on all accounts write any status', async (t) => {
  await release.grant('fixer', 'tintype-repair')
  const fixer = await release.asUser('fixer')
  const repaired = () => patchStatus(fixer, 'webhooks', 'status-acme', { url: 'repaired' }).catch(() => undefined)
  t.match(await eventually('the role is in force', repaired), { status: { url: 'repaired' } })
  for (const plural of PLURALS) {
    t.match(await patchStatus(fixer, plural, 'status-acme', forged[plural]), { status: forged[plural] }, plural)
    t.ok(await patchStatus(release.admin, plural, 'status-other', forged[plural]), 'a cluster administrator has every verb')
  }
})

t.test('policy leaves the status in other namespaces to their own release', async (t) => {
  await new Resource(release.admin, namespaces).create({ metadata: { name: ELSEWHERE } })
  const metadata = { name: 'status-acme', namespace: ELSEWHERE }
  await new Resource(release.admin, webhooks).create({ metadata, spec: { ...hook, accountName: 'acme' } }, { namespace: ELSEWHERE })
  await release.grant('mallory', 'status-mallory', ELSEWHERE)
  const mallory = await release.asUser('mallory')
  const elsewhere = () => patchStatus(mallory, 'webhooks', 'status-acme', { url: 'free' }, ELSEWHERE).catch(() => undefined)
  t.match(await eventually('the role is in force', elsewhere), { status: { url: 'free' } })
})
