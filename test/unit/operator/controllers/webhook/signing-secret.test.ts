import t from 'tap'
import type { Secret } from '../../../../../crds/client/core-resources.ts'
import { buildSigningSecret, evaluateSecret, readSigningSecret } from '../../../../../operator/src/controllers/webhook/signing-secret.ts'
import { aWebhook } from '../../../../support/fakes/builders.ts'

const hook = aWebhook()
const made = buildSigningSecret(hook, 'whsec_abc') as Secret

t.test('buildSigningSecret creates a Secret that is owned by its webhook', async (t) => {
  t.match(made, {
    metadata: {
      name: 'hook-signing-secret',
      ownerReferences: [{ kind: 'Webhook', name: 'hook', uid: hook.metadata.uid, controller: true }],
    },
    type: 'tintype.dev/signing-secret',
  })
  t.equal(readSigningSecret(made, hook), 'whsec_abc')
})

const cases: { name: string; secret: Secret | undefined; is: ReturnType<typeof evaluateSecret> }[] = [
  { name: 'its own', secret: made, is: 'usable' },
  { name: 'one that a user created', secret: { ...made, metadata: { name: 'hook-signing-secret' } }, is: 'usable' },
  { name: 'none', secret: undefined, is: 'missing' },
  { name: 'one of another type', secret: { ...made, type: 'Opaque' }, is: 'foreign' },
  { name: 'one without a text', secret: { ...made, data: {} }, is: 'foreign' },
  { name: 'that of a deleted webhook', secret: buildSigningSecret(aWebhook(), 'whsec_old') as Secret, is: 'leftover' },
]
for (const { name, secret, is } of cases) {
  t.test(`evaluateSecret reports ${name} as ${is}`, async (t) => {
    t.equal(evaluateSecret(secret, hook), is)
    if (secret && is !== 'usable') t.equal(readSigningSecret(secret, hook), undefined)
  })
}
