import t from 'tap'
import type { Identity } from '../../crds/src/dispatch/dispatch.ts'
import { createSigner, type RequestToSign } from '../../operator/src/runner/signature.ts'
import type { DispatchKey } from '../../operator/src/secrets/release-keys.ts'
import { kubectlJson } from '../support/cluster/environment.ts'
import { createPool, idleRunners, type RunnerPod } from '../support/cluster/pools.ts'
import { callAsPod, DISPATCH_DIRECTORY } from '../support/cluster/runner-exec.ts'
import { openRunner, type RawRequest } from '../support/cluster/runner-port.ts'

// The release's runners know its dispatch key and their own pod: they respond only to requests that are signed for them. The test signs with the real key.
// test/integration/capture-runner/service.test.ts sends orders to a runner, and the unit test of the signature has every way to forge one.

t.setTimeout(300_000)
const { data } = await kubectlJson<{ data: Record<string, string> }>(['get', 'secret', 'tintype-dispatch-key'])
const privateKey = JSON.parse(Buffer.from(data['private.jwk'] ?? '', 'base64').toString()) as DispatchKey
const sign = await createSigner(privateKey)
const [runner, other] = (await idleRunners(await createPool(t, 'dispatch', { minIdle: 2, maxPods: 2 }), 2)) as [RunnerPod, RunnerPod]
const [send, sendToOther] = [await openRunner(t, runner.name), await openRunner(t, other.name)]

/** A request that is signed for the first runner. */
const signed = async (request: Omit<RequestToSign, 'podUid'>): Promise<RawRequest> => ({
  method: request.method,
  path: request.path,
  headers: { authorization: await sign({ podUid: runner.uid, ...request }, new Date()) },
})

const without = ({ headers: _, ...rest }: RawRequest): RawRequest => rest
const claimsOf = (token: string): object => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object

t.test('a runner identifies itself only to the operator', async (t) => {
  const question = await signed({ method: 'GET', path: '/identity' })
  t.strictSame(await send(without(question)), { status: 401, body: '' })
  t.strictSame(await sendToOther(question), { status: 401, body: '' }, 'a request for another pod is rejected')
  const identity = JSON.parse((await send(await signed({ method: 'GET', path: '/identity' }))).body) as Identity
  t.match(identity, { publicKey: { crv: 'X25519' }, sandbox: { jail: true, chromiumSandbox: true } })
  t.match(claimsOf(identity.token), { aud: ['tintype-dispatch'] })
  const [answer] = await callAsPod(runner.name, [{ path: '/version' }], DISPATCH_DIRECTORY)
  t.equal(answer?.status, 401, 'the API server rejects the token of the identity')
  t.equal((await callAsPod(runner.name, [{ path: '/version' }]))[0]?.status, 200, 'the control')
})
