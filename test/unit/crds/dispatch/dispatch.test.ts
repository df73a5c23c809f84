import t from 'tap'
import { CaptureOrder, CaptureState, Identity, SignedRequest } from '../../../../crds/src/dispatch/dispatch.ts'
import { NOON } from '../../../support/fakes/builders.ts'

const order = {
  uid: 'u',
  name: 'scr-1',
  namespace: 'default',
  accountName: 'default',
  attempt: 1,
  url: 'https://example.com/',
  upload: { url: 'http://minio/x', headers: { 'if-none-match': '*' }, maxBytes: 1 },
  deadline: NOON.getTime(),
}
const identity = {
  publicKey: { kty: 'OKP', crv: 'X25519', x: 'abc' },
  token: 't',
  sandbox: { chromiumSandbox: true, jail: true, detail: '' },
  version: '0.1.0',
}

t.test('CaptureOrder accepts a valid order and refuses incomplete ones', async (t) => {
  t.ok(CaptureOrder.safeParse(order).success)
  t.ok(CaptureOrder.safeParse({ ...order, options: { format: 'png' } }).success)
  const bad = [{ attempt: 0 }, { uid: undefined }, { upload: undefined }, { deadline: 1.5 }, { options: { nonsense: 1 } }]
  for (const change of bad) t.notOk(CaptureOrder.safeParse({ ...order, ...change }).success, JSON.stringify(change))
})

t.test('Identity accepts only X25519 keys', async (t) => {
  t.ok(Identity.safeParse(identity).success)
  t.notOk(Identity.safeParse({ ...identity, publicKey: { kty: 'OKP', crv: 'Ed25519', x: 'abc' } }).success)
  t.notOk(Identity.safeParse({ ...identity, publicKey: { kty: 'RSA', n: 'x', e: 'y' } }).success)
})

t.test('CaptureState accepts three states', async (t) => {
  for (const state of ['running', 'reporting', 'done']) t.ok(CaptureState.safeParse({ uid: 'u', attempt: 1, state }).success)
  t.notOk(CaptureState.safeParse({ uid: 'u', attempt: 1, state: 'failed' }).success)
})

t.test('SignedRequest limits the length of the id that a runner stores', async (t) => {
  const signed = { method: 'POST', path: '/captures', sha256: 'x', jti: 'u/1' }
  t.ok(SignedRequest.safeParse(signed).success)
  t.notOk(SignedRequest.safeParse({ ...signed, jti: 'x'.repeat(129) }).success)
})
