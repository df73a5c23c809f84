import { compactDecrypt, exportJWK, generateKeyPair } from 'jose'
import t from 'tap'
import { encryptOrder, toEncryptionKey } from '../../../../operator/src/runner/encrypt-order.ts'

const keyPair = async () => {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'X25519' })
  const { x = '' } = await exportJWK(publicKey)
  return { privateKey, key: toEncryptionKey({ publicKey: { kty: 'OKP', crv: 'X25519', x } }) }
}

t.test('encryptOrder produces a JWE that a library decrypts with the private key', async (t) => {
  const { key, privateKey } = await keyPair()
  for (const text of ['{}', JSON.stringify({ password: 'schön, 密' }), 'x'.repeat(100_000)]) {
    const { plaintext, protectedHeader } = await compactDecrypt(encryptOrder(text, key), privateKey, {
      keyManagementAlgorithms: ['ECDH-ES'],
      contentEncryptionAlgorithms: ['A256GCM'],
    })
    t.equal(new TextDecoder().decode(plaintext), text)
    t.equal(protectedHeader.alg, 'ECDH-ES')
  }
})

t.test('encryptOrder uses a new key and a new nonce each time', async (t) => {
  const { key } = await keyPair()
  const [first, second] = [encryptOrder('same', key), encryptOrder('same', key)].map((jwe) => jwe.split('.'))
  for (const part of [0, 2, 3, 4]) t.not(first?.[part], second?.[part])
})

t.test('encryptOrder produces a JWE that no other key decrypts and that detects changes', async (t) => {
  const { key, privateKey } = await keyPair()
  const jwe = encryptOrder('secret', key)
  await t.rejects(compactDecrypt(jwe, (await keyPair()).privateKey))
  const parts = jwe.split('.')
  for (const part of [0, 2, 3, 4]) {
    const changed = parts.map((text, index) => (index === part ? `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}` : text)).join('.')
    await t.rejects(compactDecrypt(changed, privateKey), `part ${part}`)
  }
})

t.test('toEncryptionKey rejects a key of another type', async (t) => {
  t.throws(() => toEncryptionKey({ publicKey: { kty: 'OKP', crv: 'X25519', x: 'AA' } }))
})
