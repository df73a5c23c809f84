import t from 'tap'
import { type Pod, pods, runnerPools } from '../../../../../crds/client/kinds.ts'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { findCondition } from '../../../../../crds/src/schema/conditions.ts'
import { endedStatus } from '../../../../support/fakes/runners.ts'
import { type CaptureStage, startCaptures } from '../screenshot/stage.ts'

const failures: [what: string, reason: string, message: RegExp, fail: (stage: CaptureStage) => unknown][] = [
  [
    'do not start',
    'RunnersFailing',
    /exit code 1$/,
    ({ cluster }) => {
      for (const pod of cluster.list<Pod>(pods)) cluster.put(pods, { ...pod, status: endedStatus(1) })
    },
  ],
  [
    'are rejected by the API server',
    'PodsRefused',
    /rejected the runner pod: exceeded quota$/,
    ({ cluster }) => {
      cluster.remove(pods, 'default-1')
      const refusal = new KubeError({ status: 403, reason: 'Forbidden', message: 'exceeded quota' })
      cluster.fault = ({ verb, resource }) => (verb === 'create' && resource === 'pods' ? refusal : undefined)
    },
  ],
]
for (const [what, reason, message, fail] of failures) {
  t.test(`a pool whose pods ${what} reports why, and does not create them endlessly`, async (t) => {
    const stage = await startCaptures(t)
    for (let second = 1; second <= 120; second++) {
      fail(stage)
      await stage.passTo(second)
    }
    const { conditions } = stage.cluster.get(runnerPools, 'default')?.status ?? {}
    t.match(findCondition(conditions, 'Ready'), { status: 'False', reason, message })
    const created = stage.cluster.writes.filter((write) => write === 'create pods').length
    t.ok(created < 15, `${created} pods in two minutes`)
  })
}
