import t from 'tap'
import type { Secret } from '../../../../../../crds/client/core-resources.ts'
import { newOpeningKey, seal, toSealingKey } from '../../../../../../crds/src/crypto/sealed.ts'
import type { Webhook, WebhookSpec } from '../../../../../../crds/src/kinds/webhook.ts'
import { SigningSecrets } from '../../../../../../operator/src/controllers/delivery/http/signing-secrets.ts'
import { canOpen, sealedForWebhook } from '../../../../../../operator/src/controllers/webhook/sealed-secrets.ts'
import { buildSigningSecret } from '../../../../../../operator/src/controllers/webhook/signing-secret.ts'
import { at, aWebhook } from '../../../../../support/fakes/builders.ts'

const hook = aWebhook()
const openingKeys = [newOpeningKey('k1')]
const sealingKey = toSealingKey(openingKeys[0]!)
const noSecret = async () => undefined

/** The webhook with secrets in its spec, each with its expiry in seconds after noon. */
async function withSealed(webhook: Webhook, ...texts: [text: string, endsAt?: number][]): Promise<Webhook> {
  const signingSecrets: WebhookSpec['signingSecrets'] = []
  for (const [text, endsAt] of texts) {
    const sealed = await seal(text, sealedForWebhook(webhook), sealingKey)
    signingSecrets.push({ sealed, ...(endsAt === undefined ? {} : { expiryTime: at(endsAt).toISOString() }) })
  }
  return { ...webhook, spec: { ...webhook.spec, signingSecrets } }
}

t.test('SigningSecrets reads a secret at most every 30 seconds', async (t) => {
  let second = 0
  let text = 'whsec_old'
  const asked: string[] = []
  const find = async (name: string) => {
    asked.push(name)
    return buildSigningSecret(hook, text) as Secret
  }
  const secrets = new SigningSecrets({ secrets: { find }, openingKeys, now: () => at(second) })
  t.strictSame(await secrets.find(hook), { current: 'whsec_old' })
  text = 'whsec_new'
  second = 29
  t.strictSame(await secrets.find(hook), { current: 'whsec_old' })
  second = 30
  t.strictSame(await secrets.find(hook), { current: 'whsec_new' })
  t.strictSame(asked, ['hook-signing-secret', 'hook-signing-secret'])
})

t.test('SigningSecrets returns nothing for a Secret that is missing or does not belong to the webhook', async (t) => {
  for (const secret of [
    undefined,
    { ...buildSigningSecret(hook, 'x'), type: 'Opaque' } as Secret,
    buildSigningSecret(aWebhook(), 'x') as Secret,
  ]) {
    const secrets = new SigningSecrets({ secrets: { find: async () => secret }, openingKeys, now: () => at(0) })
    t.equal(await secrets.find(hook), undefined)
  }
})

t.test('SigningSecrets opens the secrets in a spec, and drops the previous one when it expires', async (t) => {
  let second = 0
  const rotated = await withSealed(hook, ['whsec_new'], ['whsec_old', 10])
  const secrets = new SigningSecrets({ secrets: { find: noSecret }, openingKeys, now: () => at(second) })
  t.strictSame(await secrets.find(rotated), { current: 'whsec_new', previous: 'whsec_old' })
  second = 10
  t.strictSame(await secrets.find(rotated), { current: 'whsec_new' })
})

t.test('SigningSecrets does not open secrets that were sealed for another webhook or account', async (t) => {
  const mine = await withSealed(hook, ['whsec_mine'])
  const { signingSecrets } = mine.spec
  const stolen = aWebhook({ name: 'thief', spec: { ...mine.spec } })
  const moved = { ...mine, spec: { ...mine.spec, accountName: 'thief', signingSecrets } }
  const secrets = new SigningSecrets({ secrets: { find: noSecret }, openingKeys, now: () => at(0) })
  t.strictSame(await secrets.find(mine), { current: 'whsec_mine' })
  for (const foreign of [stolen, moved]) {
    t.equal(await secrets.find(foreign), undefined)
    t.equal(await canOpen(foreign, openingKeys, at(0)), false)
  }
  t.equal(await canOpen(mine, openingKeys, at(0)), true)
})

t.test('canOpen is false when every secret has expired', async (t) => {
  t.equal(await canOpen(await withSealed(hook, ['whsec_old', 5]), openingKeys, at(5)), false)
})
