import t from 'tap'
import type { Secret } from '../../../../../crds/client/core-resources.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { buildSigningSecret, evaluateSecret, readSigningSecret } from '../../../../../operator/src/controllers/webhook/signing-secret.ts'
import { aWebhook } from '../../../../support/fakes/builders.ts'

const hook = aWebhook({ status: {} })
const made = buildSigningSecret(hook, 'whsec_abc') as Secret

t.test('buildSigningSecret creates a Secret that is owned by its webhook', async (t) => {
  t.match(made, {
    metadata: {
      name: 'hook-signing-secret',
      labels: { 'tintype.dev/account': 'default' },
      ownerReferences: [{ kind: 'Webhook', name: 'hook', uid: hook.metadata.uid, controller: true }],
    },
    type: 'tintype.dev/signing-secret',
  })
  t.equal(readSigningSecret(made, hook), 'whsec_abc')
})

/** A Secret that a user created for the webhook. */
const prepared = (labels?: Record<string, string>, uid = 'secret-1'): Secret => ({
  ...made,
  metadata: { name: 'hook-signing-secret', uid, ...(labels ? { labels } : {}) },
})

const cases: { name: string; secret: Secret | undefined; is: ReturnType<typeof evaluateSecret> }[] = [
  { name: 'its own', secret: made, is: 'usable' },
  { name: 'one that a user created with the label of the account', secret: prepared({ 'tintype.dev/account': 'default' }), is: 'usable' },
  { name: 'one without a label', secret: prepared(), is: 'unlabeled' },
  { name: 'one with the label of another account', secret: prepared({ 'tintype.dev/account': 'acme' }), is: 'unlabeled' },
  { name: 'none', secret: undefined, is: 'missing' },
  { name: 'one of another type', secret: { ...made, type: 'Opaque' }, is: 'foreign' },
  { name: 'one without a text', secret: { ...made, data: {} }, is: 'foreign' },
  { name: 'that of a deleted webhook', secret: buildSigningSecret(aWebhook(), 'whsec_old') as Secret, is: 'leftover' },
]
const signingSecretName = 'hook-signing-secret'
const acme = { accountName: 'acme' }
const keptBy: [name: string, webhook: Webhook, is: ReturnType<typeof evaluateSecret>, secret?: Secret][] = [
  ['a webhook of an earlier version that signed with it', aWebhook({ status: { signingSecretName } }), 'kept'],
  ['a webhook that keeps it', aWebhook({ status: { unlabeledSecret: 'secret-1 default' } }), 'kept'],
  ['a new webhook', aWebhook({ status: {} }), 'unlabeled'],
  ['a webhook that signed with a sealed secret', aWebhook({ status: { activeSince: 'then' } }), 'unlabeled'],
  ['a webhook that signed with a Secret of its own', aWebhook({ status: { signingSecretName, unlabeledSecret: '' } }), 'unlabeled'],
  [
    'a webhook that keeps another Secret of the name',
    aWebhook({ status: { signingSecretName, unlabeledSecret: 'secret-0 default' } }),
    'unlabeled',
  ],
  [
    'a webhook that was moved to another account',
    aWebhook({ spec: acme, status: { signingSecretName, unlabeledSecret: 'secret-1 default' } }),
    'unlabeled',
  ],
  [
    'a webhook of an earlier version, if its label names another account',
    aWebhook({ status: { signingSecretName } }),
    'unlabeled',
    prepared({ 'tintype.dev/account': 'acme' }),
  ],
]
for (const [name, webhook, is, secret = prepared()] of keptBy) {
  t.test(`a webhook signs with a prepared Secret of another team: without the label, it is ${is} for ${name}`, async (t) => {
    t.equal(evaluateSecret(secret, webhook), is)
    t.equal(readSigningSecret(secret, webhook), is === 'kept' ? 'whsec_abc' : undefined)
  })
}

for (const { name, secret, is } of cases) {
  t.test(`evaluateSecret reports ${name} as ${is}`, async (t) => {
    t.equal(evaluateSecret(secret, hook), is)
    if (secret && is !== 'usable') t.equal(readSigningSecret(secret, hook), undefined)
  })
}
