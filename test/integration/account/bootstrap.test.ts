import t from 'tap'
import { secrets } from '../../../crds/client/core-resources.ts'
import { accounts, apiKeys } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { isKeyText, keyHash } from '../../../crds/src/crypto/key-text.ts'
import { bootstrapAccount } from '../../../operator/src/controllers/account/bootstrap.ts'
import { ensureReleaseKeys } from '../../../operator/src/secrets/release-keys.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { startPlane } from '../client/plane.ts'
import { kubectlOf } from '../crds/kubectl.ts'

const plane = await startPlane(t)
const kubectl = kubectlOf(plane)
await kubectl(['create', 'role', 'operator-secrets', '--verb=get,create', '--resource=secrets'])
await kubectl(['create', 'role', 'operator-accounts', '--verb=list,create', '--resource=accounts.tintype.dev'])
await kubectl(['create', 'role', 'operator-keys', '--verb=create', '--resource=apikeys.tintype.dev'])
for (const role of ['operator-secrets', 'operator-accounts', 'operator-keys']) {
  await kubectl(['create', 'rolebinding', role, `--role=${role}`, '--user=operator'])
}
/** The operator with only the permissions that it needs here. */
const operator = new KubeHttp(await accessPlane(await plane.kubeconfigFor('operator')))
t.teardown(() => operator.close())
const stores = {
  accounts: new Resource(operator, accounts),
  apiKeys: new Resource(operator, apiKeys),
  secrets: new Resource(operator, secrets),
}
const admin = plane.connect(t)
const settings = { release: 'tintype', plan: 'scale' } as const

t.test('two operators that create the first account at the same time create one, with one working key', async (t) => {
  await Promise.all([bootstrapAccount(stores, settings), bootstrapAccount(stores, settings)])
  const secret = await new Resource(admin, secrets).get('tintype-initial-api-key')
  const text = Buffer.from(secret.data?.['api-key'] ?? '', 'base64').toString()
  t.ok(isKeyText(text))
  const keys = await new Resource(admin, apiKeys).listAll({ labelSelector: `tintype.dev/hash-1=${keyHash(text)}` })
  t.match(keys, [{ spec: { accountName: 'default', lastFour: text.slice(-4) } }])
  t.match(await new Resource(admin, accounts).listAll(), [{ metadata: { name: 'default' }, spec: { plan: 'scale' } }])
})

t.test('the first key is not created again after its Secret was deleted', async (t) => {
  await new Resource(admin, secrets).delete('tintype-initial-api-key')
  t.notOk(await bootstrapAccount(stores, settings))
  t.equal(await new Resource(admin, secrets).find('tintype-initial-api-key'), undefined)
  t.equal((await new Resource(admin, apiKeys).listAll()).length, 1)
})

t.test('two operators that create the keys of the release at the same time get the same ones', async (t) => {
  const [one, other] = await Promise.all([ensureReleaseKeys(stores.secrets, 'tintype'), ensureReleaseKeys(stores.secrets, 'tintype')])
  t.strictSame(one, other)
  t.strictSame(await ensureReleaseKeys(stores.secrets, 'tintype'), one)
})

t.test('the operator cannot list Secrets', async (t) => {
  await t.rejects(stores.secrets.list(), { status: 403, message: /cannot list/ })
})
