import { pino } from 'pino'
import t from 'tap'
import { accounts, apiKeys, secrets } from '../../../crds/client/kinds.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { isKeyText, keyHash, newKeyText } from '../../../crds/src/crypto/api-keys.ts'
import { Label } from '../../../crds/src/identifiers/names.ts'
import type { ApiKey, ApiKeySpec } from '../../../crds/src/kinds/api-key.ts'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { createAccountControllers } from '../../../operator/src/controllers/account/controller.ts'
import { createApiKeyController } from '../../../operator/src/controllers/api-key/controller.ts'
import { locatePrograms } from '../../cluster/programs/programs.ts'
import { eventually } from '../../support/eventually.ts'
import { ring } from '../../support/sources/mark-checks.ts'
import { installRelease, NAMESPACE } from '../admission/release.ts'
import { kubectlOf } from '../crds/kubectl.ts'
import { leadWith } from '../operator/lead.ts'

// Accounts and keys created with kubectl, by the operator with only the chart's permissions; and users who try to read Secrets through it.

const release = await installRelease(t)
const http = await release.asAccount('tintype-operator')
const logged: string[] = []
await leadWith(t, {
  ...{ http, creates: [createApiKeyController, createAccountControllers], caches: ['accounts', 'apiKeys', 'screenshots'] },
  deps: {
    ...{ config: { plans: DEFAULT_PLANS }, keys: { downloadKeys: ring } },
    log: pino({ level: 'debug' }, { write: (line) => void logged.push(line) }),
  },
})

const kubectl = kubectlOf({ programs: (await locatePrograms()).kubernetes, kubeconfigPath: release.kubeconfigPath })
const inNamespace = ['--namespace', NAMESPACE]
const apply = (object: object) => kubectl([...inNamespace, 'apply', '-f', '-'], { apiVersion: 'tintype.dev/v1alpha1', ...object })
const keys = new Resource(release.admin, apiKeys)
/** The gateway, which the policies do not restrict, so that the operator's own checks are visible. */
const asGateway = new Resource(await release.asAccount('tintype-api-gateway'), apiKeys)
const secretStore = new Resource(release.admin, secrets)

const readyOf = ({ status, metadata }: ApiKey) =>
  status?.conditions?.find(({ type, observedGeneration }) => type === 'Ready' && observedGeneration === metadata.generation)
const whenReason = (name: string, reason: string): Promise<ApiKey> =>
  eventually(`${name} is ${reason}`, async () => {
    const key = await keys.get(name)
    return readyOf(key)?.reason === reason && key
  })
const applyKey = async (name: string, spec: ApiKeySpec, reason: string): Promise<ApiKey> => {
  t.match(await apply({ kind: 'ApiKey', metadata: { name }, spec }), { isOk: true })
  return whenReason(name, reason)
}
const textIn = async (name: string): Promise<string> =>
  Buffer.from((await secretStore.get(name)).data?.['api-key'] ?? '', 'base64').toString()
const hashOf = ({ metadata }: ApiKey) => metadata.labels?.[Label.keyHash1]
const createSecret = (name: string, text: string, account: string) =>
  secretStore.create({
    metadata: { name, labels: { [Label.account]: account } },
    type: 'tintype.dev/api-key',
    data: { 'api-key': Buffer.from(text).toString('base64') },
  })

t.test('kubectl apply of an Account and an ApiKey creates a working key', async (t) => {
  t.match(await apply({ kind: 'Account', metadata: { name: 'acme' }, spec: { plan: 'growth' } }), { isOk: true })
  const key = await applyKey('acme-ci', { accountName: 'acme', scopes: ['screenshots:write'], secretName: 'acme-ci-key' }, 'Usable')
  const text = await textIn('acme-ci-key')
  t.ok(isKeyText(text))
  t.equal(hashOf(key), keyHash(text))
  t.equal(key.spec.lastFour, text.slice(-4))
  t.match(await secretStore.get('acme-ci-key'), {
    type: 'tintype.dev/api-key',
    metadata: { ownerReferences: [{ kind: 'ApiKey', name: 'acme-ci' }] },
  })
  t.notMatch(logged.join(), text)
  t.notMatch(JSON.stringify(key), text)
  t.match((await kubectl([...inNamespace, 'get', 'apikeys', 'acme-ci'])).output, new RegExp(`acme +True +Usable +${text.slice(-4)}`))
  const wait = await kubectl([...inNamespace, 'wait', '--for=condition=Ready', '--timeout=120s', 'account/acme', 'apikey/acme-ci'])
  t.ok(wait.isOk, wait.output)
  t.match((await kubectl([...inNamespace, 'get', 'account', 'acme'])).output, /growth +True +Active/)
})

t.test('a key whose name looks like an id of the REST API is never usable and says nothing', async (t) => {
  const names = ['2', '3'].map((letter) => `key-${letter.repeat(26)}`)
  await applyKey(names[0]!, { accountName: 'acme', secretName: 'looks-like-an-id' }, 'Usable')
  t.ok(isKeyText(await textIn('looks-like-an-id')))
  await applyKey(names[1]!, { accountName: 'acme' }, 'NoText')
})

t.test('the text of a user’s own Secret is only hashed', async (t) => {
  const text = newKeyText()
  await createSecret('own-key', text, 'acme')
  const key = await applyKey('own', { accountName: 'acme', existingSecret: 'own-key' }, 'Usable')
  t.equal(hashOf(key), keyHash(text))
  t.notOk((await secretStore.get('own-key')).metadata.ownerReferences)
})

t.test('the suspension of an account is shown on its keys', async (t) => {
  const store = new Resource(release.admin, accounts)
  await store.patch('acme', mergePatch({ spec: { suspended: true } }))
  await whenReason('acme-ci', 'AccountSuspended')
  t.match((await kubectl([...inNamespace, 'get', 'account', 'acme'])).output, /growth +False +Suspended/)
  await store.patch('acme', mergePatch({ spec: { suspended: false } }))
  await whenReason('acme-ci', 'Usable')
})

t.test('a key from the REST API gets its condition, and nothing else of it is changed', async (t) => {
  const name = `key-${'0'.repeat(26)}`
  const created = await asGateway.create({
    metadata: { name, labels: { [Label.keyHash1]: keyHash(newKeyText()) } },
    spec: { accountName: 'acme' },
  })
  await applyKey('control', { accountName: 'acme', secretName: 'control-key' }, 'Usable')
  const { metadata, spec } = await whenReason(name, 'Usable')
  t.strictSame([metadata.labels, metadata.generation, spec], [created.metadata.labels, created.metadata.generation, created.spec])
})

t.test('the API server rejects a key with two sources of its text', async (t) => {
  const answer = await apply({ kind: 'ApiKey', metadata: { name: 'both' }, spec: { secretName: 'a', existingSecret: 'b' } })
  t.match(answer, { isOk: false, output: /secretName and existingSecret exclude each other/ })
})

t.test('operator takes no text from a Secret of another account, even without a policy', async (t) => {
  await apply({ kind: 'Account', metadata: { name: 'annie' }, spec: { plan: 'free' } })
  const victim = await textIn('own-key')
  const attempts: [string, ApiKeySpec, string][] = [
    ['foreign-account', { existingSecret: 'own-key' }, 'SecretNotFound'],
    ['foreign-key', { existingSecret: 'control-key' }, 'SecretNotFound'],
    ['overwrites', { secretName: 'own-key' }, 'SecretConflict'],
  ]
  for (const [name, spec, reason] of attempts) {
    await asGateway.create({ metadata: { name }, spec: { accountName: 'annie', ...spec } })
    t.equal(hashOf(await whenReason(name, reason)), undefined, `${name} has no hash`)
  }
  t.equal(await textIn('own-key'), victim)
  // Control: a Secret that is labeled with her account is used.
  await createSecret('hers', newKeyText(), 'annie')
  await asGateway.create({ metadata: { name: 'hers' }, spec: { accountName: 'annie', existingSecret: 'hers' } })
  t.ok(hashOf(await whenReason('hers', 'Usable')))
})

t.test('a copy of a key’s hash does not redirect its requests', async (t) => {
  const hash = hashOf(await keys.get('own'))!
  await asGateway.create({ metadata: { name: 'copycat', labels: { [Label.keyHash1]: hash } }, spec: { accountName: 'annie' } })
  await whenReason('copycat', 'TextTaken')
  t.equal(readyOf(await keys.get('own'))?.reason, 'Usable')
})
