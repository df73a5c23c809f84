import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import t from 'tap'
import type { Secret } from '../../../../crds/client/kinds.ts'
import { LinkKey } from '../../../../crds/src/crypto/api-keys.ts'
import { seal, unseal } from '../../../../crds/src/crypto/sealed.ts'
import { expiryOf, signLink, verifyLink } from '../../../../crds/src/crypto/signatures.ts'
import { ensureReleaseKeys } from '../../../../operator/src/secrets/release-keys.ts'
import { FakeStore } from '../../../support/fakes/fake-store.ts'

t.test('ensureReleaseKeys creates a key ring that signs and verifies links', async (t) => {
  const { downloadKeys } = await ensureReleaseKeys(new FakeStore<Secret>(), 'tintype')
  const now = new Date('2026-11-21T12:00:00Z')
  const link = { key: 'users/default/x.png', expires: expiryOf(now) }
  const signature = new URL(signLink(link, downloadKeys), 'http://gateway').searchParams.get('signature')!
  t.ok(verifyLink(link, signature, downloadKeys, now))
})

t.test('ensureReleaseKeys creates an Ed25519 pair whose x is the public half', async (t) => {
  const { dispatchKey } = await ensureReleaseKeys(new FakeStore<Secret>(), 'tintype')
  const { d: _, ...publicHalf } = dispatchKey
  const signature = sign(null, Buffer.from('order'), createPrivateKey({ key: dispatchKey, format: 'jwk' }))
  t.ok(verify(null, Buffer.from('order'), createPublicKey({ key: publicHalf, format: 'jwk' }), signature))
})

t.test('ensureReleaseKeys returns the same keys every time, and creates the link key first', async (t) => {
  const secrets = new FakeStore<Secret>()
  t.strictSame(await ensureReleaseKeys(secrets, 'tintype'), await ensureReleaseKeys(secrets, 'tintype'))
  const [first, ...others] = secrets.objects.keys()
  t.equal(first, 'tintype-link-key', 'gateways wait for the others')
  t.strictSame(others.sort(), ['tintype-dispatch-key', 'tintype-download-keys', 'tintype-sealing-key'])
  const { data = {} } = await secrets.get('tintype-link-key')
  t.ok(LinkKey.safeParse(JSON.parse(Buffer.from(data['key.json'] ?? '', 'base64').toString())).success)
})

t.test('ensureReleaseKeys creates a pair whose private half opens what the public one seals', async (t) => {
  const secrets = new FakeStore<Secret>()
  const { openingKeys } = await ensureReleaseKeys(secrets, 'tintype')
  const { data = {} } = await secrets.get('tintype-sealing-key')
  const publicHalf = JSON.parse(Buffer.from(data['public.json'] ?? '', 'base64').toString())
  t.notOk('d' in publicHalf)
  const sealedFor = { purpose: 'signing-secret', subject: 'hook', account: 'default' } as const
  t.equal(await unseal(await seal('text', sealedFor, publicHalf), sealedFor, openingKeys), 'text')
})

t.test('ensureReleaseKeys rejects a public half without its private half', async (t) => {
  const [one, other] = [new FakeStore<Secret>(), new FakeStore<Secret>()]
  for (const secrets of [one, other]) await ensureReleaseKeys(secrets, 'tintype')
  const name = 'tintype-sealing-key'
  const [mine, foreign] = [await one.get(name), await other.get(name)]
  one.objects.set(name, { ...mine, data: { ...mine.data, 'public.json': foreign.data?.['public.json'] ?? '' } })
  await t.rejects(ensureReleaseKeys(one, 'tintype'), { name: 'TerminalError', message: /public.json/ })
})

t.test('ensureReleaseKeys rejects a Secret without a valid key, without quoting it', async (t) => {
  const data = { 'keys.json': Buffer.from('{"current":"hunter2"}').toString('base64') }
  const secrets = new FakeStore<Secret>({ metadata: { name: 'tintype-download-keys' }, data })
  await t.rejects(ensureReleaseKeys(secrets, 'tintype'), {
    name: 'TerminalError',
    message: /tintype-download-keys has no valid keys.json/,
  })
  await ensureReleaseKeys(secrets, 'tintype').catch((error) => t.notMatch(String(error), /hunter2/))
})
