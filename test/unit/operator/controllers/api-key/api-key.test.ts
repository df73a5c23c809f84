import t from 'tap'
import type { Secret } from '../../../../../crds/client/kinds.ts'
import { keyHash, newKeyText } from '../../../../../crds/src/crypto/api-keys.ts'
import { Label, secretNames } from '../../../../../crds/src/identifiers/names.ts'
import type { ApiKeySpec, ApiKeyStatus } from '../../../../../crds/src/kinds/api-key.ts'
import { type Condition, isSameCondition } from '../../../../../crds/src/schema/conditions.ts'
import {
  buildKeySecret,
  decide,
  evaluateExistingSecret,
  evaluateOwnSecret,
  type Observed,
} from '../../../../../operator/src/controllers/api-key/decide.ts'
import { anAccount, anApiKey, at } from '../../../../support/fakes/builders.ts'

const text = newKeyText()
const hash = keyHash(text)

interface Given {
  spec?: ApiKeySpec
  hasHash?: boolean
  status?: ApiKeyStatus
}
const observed = ({ spec = {}, hasHash = false, status }: Given, more: Partial<Observed> = {}): Observed => ({
  key: anApiKey({ spec, ...(status ? { status } : {}), ...(hasHash ? { metadata: { labels: { [Label.keyHash1]: hash } } } : {}) }),
  account: anAccount(),
  secret: undefined,
  isTaken: () => false,
  ...more,
})
const readyOf = (given: Observed, second = 0): Condition | undefined =>
  decide(given, at(second)).flatMap((action) => (action.do === 'patchStatus' ? action.conditions : []))[0]
const does = (given: Observed, second = 0): string[] => decide(given, at(second)).map((action) => action.do)

t.test('decide only creates the Secret when the Secret of a key is missing', async (t) => {
  t.match(does(observed({ spec: { secretName: 's' } }, { secret: { state: 'missing' } })), ['createSecret'])
})

t.test('decide labels a key with the hash of an existing text after a crash', async (t) => {
  const actions = decide(observed({ spec: { secretName: 's' } }, { secret: { state: 'usable', text } }), at(0))
  t.match(actions[0], { do: 'label', hash, lastFour: text.slice(-4) })
})

t.test('decide only hashes the text of a Secret that a user created', async (t) => {
  const given = observed({ spec: { existingSecret: 's' } }, { secret: { state: 'usable', text } })
  t.match(decide(given, at(0))[0], { do: 'label', hash })
  t.notOk(does(observed({ spec: { existingSecret: 's' } }, { secret: { state: 'missing' } })).includes('createSecret'))
})

const SINCE = at(-600).toISOString()
const otherText = newKeyText()
const [usable, other] = [text, otherText].map((one) => ({ state: 'usable' as const, text: one }))
const keyOfSecret = (more: Partial<Observed>, spec: ApiKeySpec = { existingSecret: 's' }): Observed =>
  observed({ spec, hasHash: true, status: { secretText: { hash, since: SINCE } } }, more)

t.test('a new text in the Secret of a key replaces the text of the key', async (t) => {
  for (const spec of [{ secretName: 's' }, { existingSecret: 's' }]) {
    t.match(decide(keyOfSecret({ secret: other }, spec), at(0)), [
      { do: 'label', hash: keyHash(otherText), lastFour: otherText.slice(-4) },
      { do: 'requeue', afterMilliseconds: 30_000 },
    ])
  }
})

t.test('decide remembers the text in use, and the condition says since when', async (t) => {
  const actions = decide(observed({ spec: { existingSecret: 's' }, hasHash: true }, { secret: usable }), at(0))
  const since = at(0).toISOString()
  t.match(actions, [
    {
      do: 'patchStatus',
      secretText: { hash, since },
      conditions: [{ reason: 'Usable', message: RegExp(`Secret s is accepted since ${since}`) }],
    },
    { do: 'requeue', afterMilliseconds: 30_000 },
  ])
  t.match(decide(keyOfSecret({ secret: usable }), at(0))[0], { secretText: { hash, since: SINCE } }, 'the time stays')
})

t.test('a text that a rotation over REST has replaced does not return', async (t) => {
  const rotated = { [Label.keyHash1]: keyHash(otherText) }
  for (const labels of [rotated, { ...rotated, [Label.keyHash2]: hash }]) {
    for (const status of [{ secretText: { hash, since: SINCE } }, {}]) {
      const key = anApiKey({ spec: { secretName: 's' }, status, metadata: { labels } })
      t.match(decide({ ...observed({}), key, secret: usable }, at(0)), [
        { do: 'patchStatus', conditions: [{ reason: 'Usable', message: 'Requests with this key are accepted.' }] },
        { do: 'requeue' },
      ])
    }
  }
})

t.test('a key keeps its text while its Secret has none that it can take, and the condition has the reason', async (t) => {
  const ready = (more: Partial<Observed>, spec?: ApiKeySpec) => readyOf(keyOfSecret(more, spec))
  const still = /still accepted/
  t.match(ready({ secret: { state: 'missing' } }), { status: 'True', reason: 'SecretNotFound', message: still })
  t.match(ready({ secret: { state: 'malformed' } }), { status: 'True', reason: 'SecretMalformed', message: still })
  t.match(ready({ secret: other, isTaken: (one) => one !== hash }), { status: 'True', reason: 'TextTaken', message: still })
  t.match(
    ready({ secret: { state: 'missing' } }, { secretName: 's' }),
    { status: 'True', reason: 'Usable' },
    'a generated Secret may be deleted',
  )
})

t.test('decide leaves a key alone whose only hash is the second one', async (t) => {
  const key = anApiKey({ metadata: { labels: { [Label.keyHash2]: hash } } })
  t.match(decide({ ...observed({}), key }, at(0)), [{ do: 'patchStatus', conditions: [{ status: 'True', reason: 'Usable' }] }])
})

t.test('decide observes generation 0 of a key without a generation', async (t) => {
  const given = observed({ hasHash: true })
  const { generation: _, ...metadata } = given.key.metadata
  t.match(readyOf({ ...given, key: { ...given.key, metadata } }), { observedGeneration: 0 })
})

const cases: [name: string, given: Given, reason: string, more?: Partial<Observed>, status?: 'True'][] = [
  ['a key that works', { hasHash: true }, 'Usable', {}, 'True'],
  ['an inactive key', { hasHash: true, spec: { active: false } }, 'Inactive'],
  ['an expired key', { hasHash: true, spec: { expiryTime: at(0).toISOString() } }, 'Expired'],
  ['a key of no account', { hasHash: true }, 'NoAccount', { account: undefined }],
  ['a key of a suspended account', { hasHash: true }, 'AccountSuspended', { account: anAccount({ spec: { suspended: true } }) }],
  ['a key with the text of an older one', { hasHash: true }, 'TextTaken', { isTaken: () => true }],
  ['a key that names no Secret', {}, 'NoText'],
  ['a Secret of another owner', { spec: { secretName: 's' } }, 'SecretConflict', { secret: { state: 'foreign' } }],
  ['a leftover Secret', { spec: { secretName: 's' } }, 'SecretLeftover', { secret: { state: 'leftover' } }],
  ['a Secret that is missing', { spec: { existingSecret: 's' } }, 'SecretNotFound', { secret: { state: 'missing' } }],
  ['a Secret of another account', { spec: { existingSecret: 's' } }, 'SecretNotFound', { secret: { state: 'foreign' } }],
  ['a Secret without a key', { spec: { existingSecret: 's' } }, 'SecretMalformed', { secret: { state: 'malformed' } }],
  [
    'a Secret with the text of another key',
    { spec: { existingSecret: 's' } },
    'TextTaken',
    { secret: { state: 'usable', text }, isTaken: () => true },
  ],
]
for (const [name, given, reason, more, status = 'False'] of cases) {
  t.test(`decide reports ${name}`, async (t) => {
    t.match(readyOf(observed(given, more)), { type: 'Ready', status, reason })
  })
}

t.test('decide reports a missing Secret and a Secret of another account with the same message', async (t) => {
  const messages = (['missing', 'foreign'] as const).map(
    (state) => readyOf(observed({ spec: { existingSecret: 's' } }, { secret: { state } }))?.message,
  )
  t.equal(messages[0], messages[1])
})

t.test('decide requeues to check for a Secret, and when the key expires', async (t) => {
  const waiting = observed({ spec: { existingSecret: 's' } }, { secret: { state: 'missing' } })
  t.match(decide(waiting, at(0)).at(-1), { do: 'requeue', afterMilliseconds: 15_000 })
  const expiring = observed({ hasHash: true, spec: { expiryTime: at(60).toISOString() } })
  t.match(decide(expiring, at(0)).at(-1), { do: 'requeue', afterMilliseconds: 60_000 })
  t.match(decide(keyOfSecret({ secret: usable }, { ...expiring.key.spec, existingSecret: 's' }), at(45)).at(-1), {
    afterMilliseconds: 15_000,
  })
})

t.test('decide writes nothing when the condition is up to date, in any order of fields', async (t) => {
  const ready = readyOf(observed({ hasHash: true }))!
  const reordered = Object.fromEntries(Object.entries(ready).reverse()) as Condition
  t.ok(isSameCondition(ready, reordered))
  t.strictSame(does(observed({ hasHash: true, status: { conditions: [reordered] } }), 90), [])
})

const key = anApiKey({ name: 'ci', spec: { secretName: 'ci-key', accountName: 'acme' } })
const made = buildKeySecret(key, text) as Secret
const bare = {
  metadata: { name: 'mine', labels: { 'tintype.dev/account': 'acme' } },
  type: 'tintype.dev/api-key',
  data: made.data,
} as Secret

t.test('buildKeySecret sets the key as owner and labels the account', async (t) => {
  t.match(made, {
    type: 'tintype.dev/api-key',
    metadata: {
      name: 'ci-key',
      labels: { 'tintype.dev/account': 'acme' },
      ownerReferences: [{ kind: 'ApiKey', name: 'ci', uid: key.metadata.uid }],
    },
  })
  t.strictSame(evaluateOwnSecret(made, key, 'tintype'), { state: 'usable', text })
})

const namesake = anApiKey({ name: 'ci', spec: key.spec })
const own: { name: string; secret: Secret | undefined; state: string }[] = [
  { name: 'none', secret: undefined, state: 'missing' },
  { name: 'one that a user created', secret: bare, state: 'foreign' },
  { name: 'one of another type', secret: { ...made, type: 'Opaque' }, state: 'foreign' },
  { name: 'one of another key', secret: buildKeySecret(anApiKey({ name: 'other' }), text) as Secret, state: 'foreign' },
  { name: 'one of a deleted key of the same name', secret: buildKeySecret(namesake, text) as Secret, state: 'leftover' },
  { name: 'one without a key', secret: { ...made, data: {} }, state: 'malformed' },
]
for (const { name, secret, state } of own) {
  t.test(`evaluateOwnSecret evaluates ${name}`, async (t) => t.equal(evaluateOwnSecret(secret, key, 'tintype').state, state))
}

t.test('an ApiKey that names a Secret of the release does not take its place when it is deleted for a rotation', async (t) => {
  for (const secretName of Object.values(secretNames('shots'))) {
    const squatter = anApiKey({ name: 'ci', spec: { secretName, accountName: 'acme' } })
    t.equal(evaluateOwnSecret(undefined, squatter, 'shots').state, 'foreign', secretName)
    t.equal(evaluateOwnSecret(undefined, squatter, 'other').state, 'missing', 'a Secret of another release has another name')
  }
})

const unlabelled = { ...bare, metadata: { name: 'mine' } } as Secret
const existing: [name: string, secret: Secret | undefined, state: string, accountName?: string][] = [
  ['one for its account', bare, 'usable'],
  ['one for no account, for the default one', unlabelled, 'usable', ''],
  ['one for no account, for another', unlabelled, 'foreign'],
  ['one for another account', bare, 'foreign', 'thief'],
  ['one that the operator created for another key', made, 'foreign'],
  ['one of another type', { ...bare, type: 'kubernetes.io/tls' }, 'foreign'],
  ['one whose text has no checksum', { ...bare, data: { 'api-key': 'aHVudGVyMg==' } }, 'malformed'],
  ['none', undefined, 'missing', ''],
]
for (const [name, secret, state, accountName = 'acme'] of existing) {
  t.test(`evaluateExistingSecret evaluates ${name}`, async (t) => {
    const asking = anApiKey({ name: 'asking', spec: { existingSecret: 'mine', ...(accountName ? { accountName } : {}) } })
    t.equal(evaluateExistingSecret(secret, asking).state, state)
  })
}
