import { createHash, randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import t from 'tap'
import { createVerifier, type Received } from '../../../../capture-runner/src/server/authentication.ts'
import { createSigner } from '../../../../operator/src/runner/runner-client.ts'
import { NOON } from '../../../support/fakes/builders.ts'

const AUDIENCE = 'pod-uid'
const ours = await generateKeyPair('EdDSA', { extractable: true })
const foreign = await generateKeyPair('EdDSA', { extractable: true })
const publicKey = await exportJWK(ours.publicKey)
const seconds = NOON.getTime() / 1_000

const verifierAt = (second = 0) => createVerifier({ publicKey, audience: AUDIENCE, now: () => NOON.getTime() + second * 1_000 })

interface Forged {
  claims?: JWTPayload
  audience?: string
  issuedAt?: number
  key?: CryptoKey
}

const digest = (body: string) => createHash('sha256').update(body).digest('base64url')

async function request({ claims = {}, audience = AUDIENCE, issuedAt = seconds, key = ours.privateKey }: Forged = {}): Promise<Received> {
  const signed = { method: 'POST', path: '/captures', sha256: digest('body'), jti: randomUUID(), ...claims }
  const token = await new SignJWT(signed).setProtectedHeader({ alg: 'EdDSA' }).setAudience(audience).setIssuedAt(issuedAt).sign(key)
  return { method: 'POST', path: '/captures', authorization: `Bearer ${token}` }
}

t.test('verify accepts the operator’s signature', async (t) => {
  const privateKey = { ...(await exportJWK(ours.privateKey)) } as Parameters<typeof createSigner>[0]
  const sign = await createSigner(privateKey)
  const authorization = await sign({ podUid: AUDIENCE, method: 'POST', path: '/captures', body: 'body', jti: 'uid/1' }, NOON)
  const verified = await (await verifierAt()).verify({ method: 'POST', path: '/captures', authorization })
  t.ok(verified?.covers(Buffer.from('body')))
  t.notOk(verified?.covers(Buffer.from('other body')))
})

const refused: { name: string; forged?: Forged; received?: Partial<Received>; second?: number }[] = [
  { name: 'for another pod', forged: { audience: 'other-pod' } },
  { name: 'by another key', forged: { key: foreign.privateKey } },
  { name: 'for another method', received: { method: 'DELETE' } },
  { name: 'for another path', received: { path: '/captures/x' } },
  { name: 'too long ago', second: 36 },
  { name: 'in the future', second: -10 },
  { name: 'without the body’s hash', forged: { claims: { sha256: null } } },
  { name: 'without an id', forged: { claims: { jti: 1 as unknown as string } } },
]

for (const { name, forged, received, second } of refused) {
  t.test(`verify rejects a request signed ${name}`, async (t) => {
    const verifier = await verifierAt(second)
    t.equal(await verifier.verify({ ...(await request(forged)), ...received }), undefined)
  })
}

t.test('verify rejects an unsigned request', async (t) => {
  const verifier = await verifierAt()
  const none = Buffer.from('{"alg":"none"}').toString('base64url')
  const claims = Buffer.from(
    JSON.stringify({ aud: AUDIENCE, iat: seconds, method: 'POST', path: '/captures', sha256: digest('body'), jti: 'x' }),
  )
  for (const authorization of [undefined, '', 'Bearer', 'Bearer x', 'Basic eA==', `Bearer ${none}.${claims.toString('base64url')}.`]) {
    t.equal(await verifier.verify({ method: 'POST', path: '/captures', authorization }), undefined)
  }
})

t.test('verify accepts each signature once', async (t) => {
  const verifier = await verifierAt()
  const first = await request({ claims: { jti: 'uid/1' } })
  t.ok(await verifier.verify(first))
  t.equal(await verifier.verify(first), undefined, 'a replay')
  t.ok(await verifier.verify(await request({ claims: { jti: 'uid/1', again: true } })), 'another signature for the same order')
})

t.test('verify tolerates a small clock difference', async (t) => {
  t.ok(await (await verifierAt(-4)).verify(await request()))
  t.ok(await (await verifierAt(33)).verify(await request()))
})

t.test('verify remembers signatures while they are valid', async (t) => {
  let second = 0
  const verifier = await createVerifier({ publicKey, audience: AUDIENCE, now: () => NOON.getTime() + second * 1_000 })
  const first = await request()
  t.ok(await verifier.verify(first))
  for (second of [1, 20, 34]) {
    t.ok(await verifier.verify(await request({ issuedAt: seconds + second })))
    t.equal(await verifier.verify(first), undefined, `after ${second} s`)
  }
})
