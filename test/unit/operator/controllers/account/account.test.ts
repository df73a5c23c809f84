import t from 'tap'
import type { Secret } from '../../../../../crds/client/kinds.ts'
import { isKeyText, keyHash, newKeyText } from '../../../../../crds/src/crypto/api-keys.ts'
import type { Account } from '../../../../../crds/src/kinds/account.ts'
import type { ApiKey } from '../../../../../crds/src/kinds/api-key.ts'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'
import { bootstrapAccount } from '../../../../../operator/src/controllers/account/bootstrap.ts'
import { decide } from '../../../../../operator/src/controllers/account/decide.ts'
import { toText } from '../../../../../operator/src/secrets/ensure-secret.ts'
import { anAccount, at } from '../../../../support/fakes/builders.ts'
import { FakeStore } from '../../../../support/fakes/fake-store.ts'

t.test('decide reports whether the requests of an account are accepted', async (t) => {
  t.match(decide(anAccount(), DEFAULT_PLANS, at(0)), [{ type: 'Ready', status: 'True', reason: 'Active' }])
  t.match(decide(anAccount({ spec: { suspended: true } }), DEFAULT_PLANS, at(0)), [{ type: 'Ready', status: 'False', reason: 'Suspended' }])
})

t.test('an account says that its overage has no effect on a plan without a price', async (t) => {
  const messageOf = (plan: string) =>
    decide(anAccount({ spec: { plan, overage: { enabled: true, max: 500 } } }), DEFAULT_PLANS, at(0))?.at(-1)?.message
  t.match(messageOf('free'), /spec\.overage has no effect, because the plan has no overagePricePer1000/)
  t.notMatch(messageOf('basic'), /no effect/)
})

t.test('decide writes nothing when the condition is up to date', async (t) => {
  const account = anAccount()
  const conditions = decide(account, DEFAULT_PLANS, at(0))!
  t.equal(decide({ ...account, status: { conditions } }, DEFAULT_PLANS, at(60)), undefined)
  const suspended = { ...account, spec: { ...account.spec, suspended: true }, status: { conditions } }
  t.match(decide(suspended, DEFAULT_PLANS, at(60)), [{ lastTransitionTime: at(60).toISOString() }])
})

t.test('decide observes generation 0 of an account without a generation', async (t) => {
  const { generation: _, ...metadata } = anAccount().metadata
  t.match(decide({ ...anAccount(), metadata }, DEFAULT_PLANS, at(0)), [{ observedGeneration: 0 }])
})

t.test('decide reports a plan that is not defined, and names the plans', async (t) => {
  const [condition] = decide(anAccount({ spec: { plan: 'team-gold' } }), DEFAULT_PLANS, at(0)) ?? []
  t.match(condition, { type: 'Ready', status: 'False', reason: 'PlanNotFound' })
  t.match(condition?.message, /^Plan team-gold is not defined\..*free, basic, growth, scale/)
  const plans = { 'team-gold': DEFAULT_PLANS.basic }
  t.match(decide(anAccount({ spec: { plan: 'team-gold' } }), plans, at(0)), [{ status: 'True', message: /plan team-gold/ }])
})

t.test('decide reports an account whose name no other object can have', async (t) => {
  for (const [name, words] of [
    ['a'.repeat(64), /at most 63 characters.*Create another one/],
    ['a.b', /must not contain dots.*Create another one/],
  ] as const) {
    t.match(decide(anAccount({ name }), DEFAULT_PLANS, at(0)), [{ type: 'Ready', status: 'False', reason: 'InvalidName', message: words }])
  }
  t.match(decide(anAccount({ name: 'a'.repeat(63) }), DEFAULT_PLANS, at(0)), [{ status: 'True' }])
})

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
