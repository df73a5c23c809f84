import t from 'tap'
import type { Secret } from '../../../../crds/client/core-resources.ts'
import { SigningSecrets } from '../../../../operator/src/delivery/signing-secrets.ts'
import { buildSigningSecret } from '../../../../operator/src/webhook/signing-secret.ts'
import { at, aWebhook } from '../../../support/builders.ts'

const hook = aWebhook()

t.test('SigningSecrets reads a secret at most every 30 seconds', async (t) => {
  let second = 0
  let text = 'whsec_old'
  const asked: string[] = []
  const find = async (name: string) => {
    asked.push(name)
    return buildSigningSecret(hook, text) as Secret
  }
  const secrets = new SigningSecrets({ find }, () => at(second))
  t.equal(await secrets.find(hook), 'whsec_old')
  text = 'whsec_new'
  second = 29
  t.equal(await secrets.find(hook), 'whsec_old')
  second = 30
  t.equal(await secrets.find(hook), 'whsec_new')
  t.strictSame(asked, ['hook-signing-secret', 'hook-signing-secret'])
})

t.test('SigningSecrets has no text of a Secret that is missing or not the webhook’s', async (t) => {
  for (const secret of [
    undefined,
    { ...buildSigningSecret(hook, 'x'), type: 'Opaque' } as Secret,
    buildSigningSecret(aWebhook(), 'x') as Secret,
  ]) {
    t.equal(await new SigningSecrets({ find: async () => secret }, () => at(0)).find(hook), undefined)
  }
})
