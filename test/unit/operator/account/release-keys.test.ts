import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import t from 'tap'
import type { Secret } from '../../../../crds/client/core-resources.ts'
import { expiryOf, signLink, verifyLink } from '../../../../crds/src/download-link.ts'
import { ensureReleaseKeys } from '../../../../operator/src/account/release-keys.ts'
import { FakeStore } from '../../../support/fake-store.ts'

t.test('ensureReleaseKeys makes a ring that signs and checks links', async (t) => {
  const { downloadKeys } = await ensureReleaseKeys(new FakeStore<Secret>(), 'tintype')
  const now = new Date('2026-11-21T12:00:00Z')
  const link = { key: 'users/default/x.png', expires: expiryOf(now) }
  const signature = new URL(signLink(link, downloadKeys), 'http://gateway').searchParams.get('signature')!
  t.ok(verifyLink(link, signature, downloadKeys, now))
})

t.test('ensureReleaseKeys makes an Ed25519 pair whose x is the public half', async (t) => {
  const { dispatchKey } = await ensureReleaseKeys(new FakeStore<Secret>(), 'tintype')
  const { d: _, ...publicHalf } = dispatchKey
  const signature = sign(null, Buffer.from('order'), createPrivateKey({ key: dispatchKey, format: 'jwk' }))
  t.ok(verify(null, Buffer.from('order'), createPublicKey({ key: publicHalf, format: 'jwk' }), signature))
})

t.test('ensureReleaseKeys returns the same keys every time', async (t) => {
  const secrets = new FakeStore<Secret>()
  t.strictSame(await ensureReleaseKeys(secrets, 'tintype'), await ensureReleaseKeys(secrets, 'tintype'))
  t.strictSame([...secrets.objects.keys()].sort(), ['tintype-dispatch-key', 'tintype-download-keys'])
})

t.test('ensureReleaseKeys refuses a Secret that holds something else, without telling what', async (t) => {
  const data = { 'keys.json': Buffer.from('{"current":"hunter2"}').toString('base64') }
  const secrets = new FakeStore<Secret>({ metadata: { name: 'tintype-download-keys' }, data })
  await t.rejects(ensureReleaseKeys(secrets, 'tintype'), {
    name: 'TerminalError',
    message: /tintype-download-keys has no usable keys.json/,
  })
  await ensureReleaseKeys(secrets, 'tintype').catch((error) => t.notMatch(String(error), /hunter2/))
})
