import t from 'tap'
import type { Pod } from '../../../../crds/client/core-resources.ts'
import { HOLDER_POD_ANNOTATION, holderPodProbe, livenessOf } from '../../../../operator/src/controller-runtime/holder-pod.ts'
import { sendJson, sendStatus, startScriptedServer } from '../../crds/client/scripted-server.ts'

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
for (const { name, pod, is } of cases) {
  t.test(`livenessOf reports a holder as ${name}`, async (t) => {
    t.equal(livenessOf(pod, question, 'operator'), is)
  })
}

t.test('holderPodProbe reads the pod that the annotation of the holder names', async (t) => {
  const { http, exchanges } = await startScriptedServer(t, ({ response, path }) =>
    path.endsWith('/operator-1')
      ? sendJson(response, pod({ state: running('2026-11-20T10:00:00Z') }))
      : sendStatus(response, 404, 'NotFound'),
  )
  const probe = holderPodProbe({ http, namespace: 'shots', container: 'operator' })
  t.equal(await probe(question), 'alive')
  t.equal(exchanges[0]?.path, '/api/v1/namespaces/shots/pods/operator-1')
  t.equal(await probe({ ...question, annotations: { [HOLDER_POD_ANNOTATION]: 'operator-9' } }), 'gone')
  t.equal(await probe({ ...question, annotations: {} }), 'unknown')
  t.equal(exchanges.length, 2)
})
