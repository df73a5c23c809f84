import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import type { Identity } from '../../crds/src/dispatch/dispatch.ts'
import { RUNNER_PORT } from '../../crds/src/identifiers/names.ts'
import { createSigner } from '../../operator/src/runner/runner-client.ts'
import type { DispatchKey } from '../../operator/src/secrets/release-keys.ts'
import { cluster, kubectlJson } from '../support/cluster/environment.ts'
import { createPool, idleRunners, type RunnerPod } from '../support/cluster/pools.ts'
import { callAsPod, DISPATCH_DIRECTORY } from '../support/cluster/runner-exec.ts'
import { NAMESPACE } from '../support/cluster/tested-release.ts'

// The release's runners know its dispatch key and their own pod: they respond only to requests that are signed for them. The test signs with the real key.
// test/integration/capture-runner/service.test.ts sends orders to a runner, and the unit test of the signature has every way to forge one.

t.setTimeout(300_000)
const { data } = await kubectlJson<{ data: Record<string, string> }>(['get', 'secret', 'tintype-dispatch-key'])
const privateKey = JSON.parse(Buffer.from(data['private.jwk'] ?? '', 'base64').toString()) as DispatchKey
const sign = await createSigner(privateKey)
const [runner, other] = (await idleRunners(await createPool(t, 'dispatch', { minIdle: 2, maxPods: 2 }), 2)) as [RunnerPod, RunnerPod]

/** Forwards a port to a runner, which only the operator should be able to use. Resolves to a function that asks for its identity. */
async function openRunner({ name }: RunnerPod): Promise<(headers: Record<string, string>) => Promise<{ status: number; body: string }>> {
  const args = ['-n', NAMESPACE, 'port-forward', `pod/${name}`, `:${RUNNER_PORT}`]
  const forward = spawn('kubectl', args, { env: cluster.shell, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => forward.kill())
  const [said] = (await once(forward.stdout, 'data')) as [Buffer]
  const [address] = /127\.0\.0\.1:\d+/.exec(said.toString()) ?? []
  if (address === undefined) throw new Error(`kubectl port-forward printed ${said}`)
  forward.stdout.resume()
  return async (headers) => {
    const response = await fetch(`http://${address}/identity`, { headers })
    return { status: response.status, body: await response.text() }
  }
}

const [ask, askOther] = [await openRunner(runner), await openRunner(other)]
/** Headers of a request that is signed for the first runner. */
const signed = async () => ({ authorization: await sign({ podUid: runner.uid, method: 'GET', path: '/identity' }, new Date()) })
const claimsOf = (token: string): object => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object

t.test('a runner identifies itself only to the operator', async (t) => {
  t.strictSame(await ask({}), { status: 401, body: '' })
  t.strictSame(await askOther(await signed()), { status: 401, body: '' }, 'a request for another pod is rejected')
  const identity = JSON.parse((await ask(await signed())).body) as Identity
  t.match(identity, { publicKey: { crv: 'X25519' }, sandbox: { jail: true, chromiumSandbox: true } })
  t.match(claimsOf(identity.token), { aud: ['tintype-dispatch'] })
  const [answer] = await callAsPod(runner.name, [{ path: '/version' }], DISPATCH_DIRECTORY)
  t.equal(answer?.status, 401, 'the API server rejects the token of the identity')
  t.equal((await callAsPod(runner.name, [{ path: '/version' }]))[0]?.status, 200, 'the control')
})
