import t from 'tap'
import type { Secret } from '../../../../../crds/client/core-resources.ts'
import { isKeyText, keyHash, newKeyText } from '../../../../../crds/src/crypto/key-text.ts'
import type { Account } from '../../../../../crds/src/kinds/account.ts'
import type { ApiKey } from '../../../../../crds/src/kinds/api-key.ts'
import { bootstrapAccount } from '../../../../../operator/src/controllers/account/bootstrap.ts'
import { toText } from '../../../../../operator/src/secrets/ensure-secret.ts'
import { FakeStore } from '../../../../support/fakes/fake-store.ts'

const settings = { release: 'tintype', plan: 'scale' } as const
const SECRET = 'tintype-initial-api-key'

const emptyStores = () => ({
  accounts: new FakeStore<Account>(),
  apiKeys: new FakeStore<ApiKey>(),
  secrets: new FakeStore<Secret>(),
})
type Stores = ReturnType<typeof emptyStores>

const keyTextIn = ({ secrets }: Stores) => toText(secrets.objects.get(SECRET)!)['api-key']!
const hashesIn = ({ apiKeys }: Stores) => [...apiKeys.objects.values()].map(({ metadata }) => metadata.labels?.['tintype.dev/hash-1'])

t.test('bootstrapAccount creates an account, a key, and a Secret with its text when no account exists', async (t) => {
  const stores = emptyStores()
  t.ok(await bootstrapAccount(stores, settings))
  const text = keyTextIn(stores)
  t.ok(isKeyText(text))
  t.strictSame(hashesIn(stores), [keyHash(text)])
  t.match([...stores.apiKeys.objects.values()][0], { spec: { accountName: 'default', lastFour: text.slice(-4) } })
  t.match([...stores.accounts.objects.values()], [{ metadata: { name: 'default' }, spec: { plan: 'scale' } }])
  t.notMatch(JSON.stringify([...stores.apiKeys.objects.values()]), text, 'the text is in the Secret only')
})

t.test('bootstrapAccount creates nothing when an account exists, whatever else is missing', async (t) => {
  const stores = { ...emptyStores(), accounts: new FakeStore<Account>({ metadata: { name: 'acme' }, spec: { plan: 'basic' } }) }
  t.notOk(await bootstrapAccount(stores, settings))
  t.strictSame([stores.secrets.objects.size, stores.apiKeys.objects.size, stores.accounts.objects.size], [0, 0, 1])
})

t.test('bootstrapAccount finishes what a killed operator started, with the same key', async (t) => {
  for (const fatal of ['secrets', 'apiKeys', 'accounts'] as const) {
    const stores = emptyStores()
    stores[fatal].beforeCreate = () => {
      throw new Error('killed')
    }
    await t.rejects(bootstrapAccount(stores, settings), { message: 'killed' })
    const before = stores.secrets.objects.has(SECRET) ? keyTextIn(stores) : undefined
    stores[fatal].beforeCreate = () => {}
    t.ok(await bootstrapAccount(stores, settings), `finishes after a kill at ${fatal}`)
    t.equal(keyTextIn(stores), before ?? keyTextIn(stores), `keeps the text after a kill at ${fatal}`)
    t.strictSame(hashesIn(stores), [keyHash(keyTextIn(stores))], `has one key after a kill at ${fatal}`)
  }
})

t.test('bootstrapAccount uses the key of an operator that was faster', async (t) => {
  const stores = emptyStores()
  const text = newKeyText()
  stores.secrets.beforeCreate = (name) => {
    stores.secrets.objects.set(name, { metadata: { name }, data: { 'api-key': Buffer.from(text).toString('base64') } })
  }
  t.ok(await bootstrapAccount(stores, settings))
  t.strictSame(hashesIn(stores), [keyHash(text)])
})

t.test('bootstrapAccount uses a key that a user put into the Secret', async (t) => {
  const text = newKeyText()
  const data = { 'api-key': Buffer.from(`${text}\n`).toString('base64') }
  const stores = { ...emptyStores(), secrets: new FakeStore<Secret>({ metadata: { name: SECRET }, data }) }
  t.ok(await bootstrapAccount(stores, settings))
  t.strictSame(hashesIn(stores), [keyHash(text)])
})

t.test('bootstrapAccount rejects a Secret without a key and says what to do', async (t) => {
  const data = { 'api-key': Buffer.from('swordfish').toString('base64') }
  const stores = { ...emptyStores(), secrets: new FakeStore<Secret>({ metadata: { name: SECRET }, data }) }
  await t.rejects(bootstrapAccount(stores, settings), { name: 'TerminalError', message: /Delete it/ })
  t.equal(stores.accounts.objects.size, 0)
})
