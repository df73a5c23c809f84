import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { CompactEncrypt, importJWK } from 'jose'
import t from 'tap'
import { createOrderKeys } from '../../../../capture-runner/src/server/keys.ts'

const order: CaptureOrder = {
  uid: 'u',
  name: 'scr-1',
  namespace: 'default',
  accountName: 'default',
  attempt: 1,
  url: 'https://example.com/',
  upload: { url: 'http://store/x', headers: { 'if-none-match': '*' }, maxBytes: 1 },
  deadline: 1,
}

type Keys = Awaited<ReturnType<typeof createOrderKeys>>

const seal = async (content: unknown, { publicKey }: Keys, header = { alg: 'ECDH-ES', enc: 'A256GCM' }) =>
  new CompactEncrypt(new TextEncoder().encode(JSON.stringify(content)))
    .setProtectedHeader(header)
    .encrypt(await importJWK(publicKey, 'ECDH-ES'))

t.test('open reads an order encrypted for its key', async (t) => {
  const keys = await createOrderKeys()
  t.strictSame(await keys.open(await seal(order, keys)), order)
})

t.test('open rejects a token for another key, an altered one, or a weaker algorithm', async (t) => {
  const [keys, others] = [await createOrderKeys(), await createOrderKeys()]
  const sealed = await seal(order, keys)
  await t.rejects(keys.open(await seal(order, others)))
  await t.rejects(keys.open(`${sealed.slice(0, -4)}AAAA`))
  await t.rejects(keys.open(JSON.stringify(order)))
  await t.rejects(keys.open(await seal(order, keys, { alg: 'ECDH-ES', enc: 'A128CBC-HS256' })))
})

t.test('open rejects an invalid order', async (t) => {
  const keys = await createOrderKeys()
  await t.rejects(keys.open(await seal({ ...order, attempt: 0 }, keys)))
  await t.rejects(keys.open(await seal({ ...order, options: { format: 'mov' } }, keys)))
})

t.test('open names the wrong fields of an order without quoting it', async (t) => {
  const keys = await createOrderKeys()
  const privateOptions = { headers: { hunter2: 'hunter2\n' }, hunter2: 'hunter2' }
  const message = 'invalid order; wrong fields: attempt, privateOptions'
  await t.rejects(keys.open(await seal({ ...order, attempt: 0, privateOptions }, keys)), { message })
  await t.rejects(keys.open(await seal('hunter2', keys)), { message: 'invalid order; wrong fields: (root)' })
})

t.test('createOrderKeys creates another key each time', async (t) => {
  const [one, other] = [await createOrderKeys(), await createOrderKeys()]
  t.not(one.publicKey.x, other.publicKey.x)
  t.match(one.publicKey, { kty: 'OKP', crv: 'X25519', x: /^[\w-]{43}$/ })
})
