import t from 'tap'
import type { Pod } from '../../../../crds/client/kinds.ts'
import { HOLDER_POD_ANNOTATION, holderPodProbe, livenessOf } from '../../../../operator/src/controller-runtime/leader-election.ts'
import {
  acquired,
  holderOf,
  leaseStore,
  released,
  renewed,
  termOf,
  toMicroTime,
} from '../../../../operator/src/controller-runtime/lease.ts'
import { sendJson, sendStatus, startScriptedServer } from '../../crds/client/scripted-server.ts'

const now = Date.parse('2026-11-20T10:00:00.123Z')
const holder = { identity: 'me', annotations: { pod: 'operator-1' }, leaseDurationMilliseconds: 15_000 }

t.test('toMicroTime writes the six fraction digits that the API server requires', async (t) => {
  t.equal(toMicroTime(now), '2026-11-20T10:00:00.123000Z')
})

t.test('acquired starts the first term of a new lease', async (t) => {
  const times = { acquireTime: toMicroTime(now), renewTime: toMicroTime(now) }
  const spec = { holderIdentity: 'me', leaseDurationSeconds: 15, leaseTransitions: 0, ...times }
  const metadata = { name: 'tintype', annotations: { pod: 'operator-1' } }
  t.match(acquired('tintype', undefined, holder, now), { metadata, spec })
})

t.test('acquired starts the next term of an old lease and keeps its version as the precondition', async (t) => {
  const metadata = { name: 'tintype', resourceVersion: '7', annotations: { pod: 'operator-0', other: 'x' } }
  const lease = acquired('tintype', { metadata, spec: { holderIdentity: 'them', leaseTransitions: 4 } }, holder, now)
  t.strictSame(lease.metadata, { name: 'tintype', resourceVersion: '7', annotations: { pod: 'operator-1', other: 'x' } })
  t.equal(termOf(lease), 5)
  t.equal(holderOf(lease), 'me')
})

t.test('renewed changes only the time, released leaves the lease without a holder for a second', async (t) => {
  const lease = acquired('tintype', undefined, holder, now)
  t.strictSame(renewed(lease, now + 2_000).spec, { ...lease.spec, renewTime: toMicroTime(now + 2_000) })
  const free = released(lease, now + 2_000)
  t.equal(holderOf(free), undefined)
  t.equal(free.spec?.leaseDurationSeconds, 1)
  t.equal(holderOf(undefined), undefined)
})

const question = { identity: 'uid-1', annotations: { [HOLDER_POD_ANNOTATION]: 'operator-1' }, renewTime: '2026-11-20T10:00:05.500000Z' }
const pod = ({ uid = 'uid-1', phase = 'Running', state = {} as object | null } = {}) =>
  ({
    metadata: { name: 'operator-1', uid },
    status: { phase, containerStatuses: state ? [{ name: 'operator', state }] : [] },
  }) as unknown as Pod
const running = (startedAt: string) => ({ running: { startedAt } })

const cases = [
  { name: 'gone when there is no such pod', pod: undefined, is: 'gone' },
  { name: 'gone when another pod has its name', pod: pod({ uid: 'uid-2', state: running('2026-11-20T10:00:00Z') }), is: 'gone' },
  { name: 'gone when its pod failed', pod: pod({ phase: 'Failed' }), is: 'gone' },
  { name: 'gone when its container has ended', pod: pod({ state: { terminated: { exitCode: 137 } } }), is: 'gone' },
  { name: 'gone when its container waits for a restart', pod: pod({ state: { waiting: { reason: 'CrashLoopBackOff' } } }), is: 'gone' },
  { name: 'gone when its container was started after the last renewal', pod: pod({ state: running('2026-11-20T10:00:06Z') }), is: 'gone' },
  {
    name: 'alive when its container was started before the last renewal',
    pod: pod({ state: running('2026-11-20T10:00:05Z') }),
    is: 'alive',
  },
  { name: 'unknown while the kubelet has reported nothing', pod: pod({ state: null }), is: 'unknown' },
]
for (const { name, pod, is } of cases)
  t.test(`livenessOf reports a holder as ${name}`, async (t) => t.equal(livenessOf(pod, question, 'operator'), is))

t.test('holderPodProbe reads the pod that the annotation of the holder names', async (t) => {
  const found = pod({ state: running('2026-11-20T10:00:00Z') })
  const { http, exchanges } = await startScriptedServer(t, ({ response, path }) =>
    path.endsWith('/operator-1') ? sendJson(response, found) : sendStatus(response, 404, 'NotFound'),
  )
  const probe = holderPodProbe({ http, namespace: 'shots', container: 'operator' })
  t.equal(await probe(question), 'alive')
  t.equal(exchanges[0]?.path, '/api/v1/namespaces/shots/pods/operator-1')
  t.equal(await probe({ ...question, annotations: { [HOLDER_POD_ANNOTATION]: 'operator-9' } }), 'gone')
  t.equal(await probe({ ...question, annotations: {} }), 'unknown')
  t.equal(exchanges.length, 2)
})

t.test('leaseStore finds no lease that does not exist, and sends each call once, because the election retries', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response, path }) =>
    path.endsWith('/none') ? sendStatus(response, 404, 'NotFound') : sendStatus(response, 503, 'ServiceUnavailable'),
  )
  const { signal } = new AbortController()
  t.equal(await leaseStore(http, 'none', 'shots').find(signal), undefined)
  const store = leaseStore(http, 'tintype', 'shots')
  const lease = { metadata: { name: 'tintype', resourceVersion: '7' } }
  for (const call of [store.find(signal), store.create(lease, signal), store.replace(lease, signal)])
    await t.rejects(call, { name: 'KubeError', status: 503 })
  const base = '/apis/coordination.k8s.io/v1/namespaces/shots/leases'
  const sent = exchanges.map(({ method, path }) => `${method} ${path}`).sort()
  t.strictSame(sent, [`GET ${base}/none`, `GET ${base}/tintype`, `POST ${base}`, `PUT ${base}/tintype`])
})
