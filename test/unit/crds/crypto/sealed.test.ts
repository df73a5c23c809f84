import t from 'tap'
import { newOpeningKey, SealError, type SealedFor, seal, toSealingKey, unseal } from '../../../../crds/src/crypto/sealed.ts'

const [older, newer] = [newOpeningKey('k1'), newOpeningKey('k2')]
const options: SealedFor = { purpose: 'options', subject: 'scr-1', account: 'acme', url: 'https://example.com/' }

t.test('unseal decrypts a sealed text with any of its keys', async (t) => {
  const sealed = await seal('{"cookies":[]}', options, toSealingKey(older))
  t.equal(await unseal(sealed, options, [newer, older]), '{"cookies":[]}')
  t.notMatch(sealed, 'cookies')
})

t.test('the sealing key does not contain the private key', async (t) => {
  t.strictSame(Object.keys(toSealingKey(older)).sort(), ['crv', 'kid', 'kty', 'x'])
})

const others: Record<string, SealedFor> = {
  'another object': { ...options, subject: 'scr-2' },
  'another account': { ...options, account: 'evil' },
  'another address': { ...options, url: 'https://evil.example/' },
  'no address': { purpose: 'options', subject: 'scr-1', account: 'acme' },
  'another purpose': { ...options, purpose: 'signing-secret' },
}
for (const [what, sealedFor] of Object.entries(others)) {
  t.test(`unseal refuses a text that was copied to ${what}`, async (t) => {
    const sealed = await seal('secret', options, toSealingKey(older))
    await t.rejects(unseal(sealed, sealedFor, [older]), new SealError('the text belongs to another object'))
  })
}

t.test('unseal refuses a changed header, a changed text, a foreign key and garbage', async (t) => {
  const sealed = await seal('secret', options, toSealingKey(older))
  const [head = '', ...rest] = sealed.split('.')
  const forged = { ...(JSON.parse(Buffer.from(head, 'base64url').toString()) as object), tintype: ['options', 'scr-2', 'acme', ''] }
  const wrong = [
    [Buffer.from(JSON.stringify(forged)).toString('base64url'), ...rest].join('.'),
    `${sealed.slice(0, -8)}AAAAAAAA`,
    await seal('secret', options, toSealingKey({ ...newer, kid: 'k1' })),
    await seal('secret', options, toSealingKey(newer)),
    'garbage',
    '',
  ]
  for (const text of wrong) await t.rejects(unseal(text, options, [older]), SealError)
})
