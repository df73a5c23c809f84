import { randomUUID } from 'node:crypto'
import { CompactEncrypt, importJWK } from 'jose'
import t from 'tap'
import type { CaptureOrder, Identity } from '../../crds/src/dispatch/dispatch.ts'
import { createSigner, type RequestToSign } from '../../operator/src/runner/signature.ts'
import type { DispatchKey } from '../../operator/src/secrets/release-keys.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { createPool, idleRunners, type RunnerPod } from '../support/cluster/pools.ts'
import { callAsPod, DISPATCH_DIRECTORY } from '../support/cluster/runner-exec.ts'
import { openRunner, type RawRequest, type Send } from '../support/cluster/runner-port.ts'
import { captureWith } from '../support/cluster/screenshots.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'
import { eventually } from '../support/eventually.ts'
import { page } from '../support/servers/pages.ts'

// A runner accepts orders only with a signature of the dispatch key, addressed to its own pod, once, within half a minute. The test signs
// with the real key. The unit test of the signature has every way to forge one.

t.setTimeout(300_000)
const { data } = await kubectlJson<{ data: Record<string, string> }>(['get', 'secret', 'tintype-dispatch-key'])
const privateKey = JSON.parse(Buffer.from(data['private.jwk'] ?? '', 'base64').toString()) as DispatchKey
const sign = await createSigner(privateKey)
const [runner, other] = (await idleRunners(await createPool(t, 'dispatch', { minIdle: 2, maxPods: 2 }), 2)) as [RunnerPod, RunnerPod]
const [send, sendToOther] = [await openRunner(t, runner.name), await openRunner(t, other.name)]

/** A request signed for a pod. */
async function signed(request: Omit<RequestToSign, 'podUid'>, podUid = runner.uid): Promise<RawRequest> {
  const authorization = await sign({ podUid, ...request }, new Date())
  const { method, path, body } = request
  return { method, path, headers: { authorization }, ...(body === undefined ? {} : { body }) }
}

const identityOf = async (to: Send, uid: string): Promise<Identity> =>
  JSON.parse((await to(await signed({ method: 'GET', path: '/identity' }, uid))).body) as Identity

/** An order without a Screenshot: it never reports, and its upload fails. */
const anOrder = (): CaptureOrder => ({
  uid: randomUUID(),
  name: 'none',
  namespace: NAMESPACE,
  accountName: 'none',
  attempt: 1,
  url: page('/solid?color=336699'),
  options: { delay: 60_000 },
  upload: { url: 'http://127.0.0.1:1/', headers: {}, maxBytes: 1 },
  deadline: Date.now() + 120_000,
})

/** The order, encrypted and signed for the runner as the operator does it. */
async function signedOrder(order: CaptureOrder, podUid = runner.uid): Promise<RawRequest> {
  const key = await importJWK((await identityOf(send, runner.uid)).publicKey, 'ECDH-ES')
  const plaintext = new TextEncoder().encode(JSON.stringify(order))
  const body = await new CompactEncrypt(plaintext).setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM' }).encrypt(key)
  return signed({ method: 'POST', path: '/captures', body, jti: `${order.uid}/${order.attempt}` }, podUid)
}

const without = ({ headers: _, ...rest }: RawRequest): RawRequest => rest
const claimsOf = (token: string): object => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object

t.test('the page of the following orders can be captured, even if an earlier test file restarted DNS or nodes', async (t) => {
  await eventually('a capture of it succeeds', async () => (await captureWith(t, { url: anOrder().url })).status?.phase === 'Completed')
})

t.test('a runner accepts a signed order once, and rejects the same request again', async (t) => {
  const order = anOrder()
  const request = await signedOrder(order)
  t.strictSame(await send(without(request)), { status: 401, body: '' }, 'without its signature')
  t.strictSame(await send(await signedOrder(order, other.uid)), { status: 401, body: '' }, 'signed for another pod')
  const accepted = await send(request)
  t.equal(accepted.status, 202)
  t.match(JSON.parse(accepted.body), { uid: order.uid, attempt: 1 })
  t.strictSame(await send(request), { status: 401, body: '' }, 'the replay')
  t.equal((await send(await signedOrder(order))).status, 200, 'a new signature for the same order returns its state')
  const ask = await signed({ method: 'GET', path: `/captures/${order.uid}` })
  const known = JSON.parse((await send(ask)).body) as object
  t.match(known, { state: 'running' }, 'the capture is running', { said: (await kubectl(['logs', runner.name, '--tail=5'])).stdout })
  t.equal((await send(ask)).status, 401, 'a status request cannot be replayed either')
  const cancel = await signed({ method: 'DELETE', path: `/captures/${order.uid}` })
  t.equal((await send(without(cancel))).status, 401, 'an unsigned cancel is rejected')
  t.equal((await send(cancel)).status, 202)
})

t.test('a runner identifies itself only to the operator', async (t) => {
  const question = await signed({ method: 'GET', path: '/identity' })
  t.strictSame(await send(without(question)), { status: 401, body: '' })
  t.strictSame(await sendToOther(question), { status: 401, body: '' }, 'a request for another pod is rejected')
  const identity = await identityOf(send, runner.uid)
  t.match(identity, { publicKey: { crv: 'X25519' }, sandbox: { jail: true, chromiumSandbox: true } })
  t.match(claimsOf(identity.token), { aud: ['tintype-dispatch'] })
  const [answer] = await callAsPod(runner.name, [{ path: '/version' }], DISPATCH_DIRECTORY)
  t.equal(answer?.status, 401, 'the API server rejects the token of the identity')
  t.equal((await callAsPod(runner.name, [{ path: '/version' }]))[0]?.status, 200, 'the control')
})
