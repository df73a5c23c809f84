import t from 'tap'
import type { Secret } from '../../../../../crds/client/core-resources.ts'
import { newKeyText } from '../../../../../crds/src/crypto/key-text.ts'
import { secretNames } from '../../../../../crds/src/identifiers/names.ts'
import { buildKeySecret, evaluateExistingSecret, evaluateOwnSecret } from '../../../../../operator/src/controllers/api-key/key-secret.ts'
import { anApiKey } from '../../../../support/fakes/builders.ts'

const text = newKeyText()
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
