import t from 'tap'
import type { Pod } from '../../cluster/release/pod-problem.ts'
import { missingOf, ofRelease, type Pool, type Workload } from '../../cluster/release/rollout.ts'

const aWorkload = (status: Workload['status'], replicas?: number): Workload => ({
  kind: 'Deployment',
  metadata: { name: 'operator', generation: 3 },
  spec: replicas === undefined ? {} : { replicas },
  status: { observedGeneration: 3, ...status },
})

const cases: { name: string; workload: Workload; missing: string[] }[] = [
  {
    name: 'nothing when all pods are ready and new',
    workload: aWorkload({ readyReplicas: 2, updatedReplicas: 2, replicas: 2 }, 2),
    missing: [],
  },
  {
    name: 'one pod when one is ready',
    workload: aWorkload({ readyReplicas: 1, updatedReplicas: 2, replicas: 2 }, 2),
    missing: ['operator 1/2'],
  },
  { name: 'a workload without status', workload: aWorkload({}), missing: ['operator 0/1'] },
  {
    name: 'a workload whose old pods still run',
    workload: aWorkload({ readyReplicas: 3, updatedReplicas: 2, replicas: 3 }, 2),
    missing: ['operator 2/2'],
  },
  {
    name: 'a workload whose change was not observed yet',
    workload: aWorkload({ observedGeneration: 2, readyReplicas: 2, updatedReplicas: 2, replicas: 2 }, 2),
    missing: ['operator 2/2'],
  },
]
for (const { name, workload, missing } of cases) {
  t.test(`missingOf names ${name}`, async (t) => t.strictSame(missingOf([workload]), missing))
}

t.test('missingOf names a pool until it has a runner, idle or busy', async (t) => {
  const aPool = (status?: NonNullable<Pool['status']>, minIdle = 1): Pool => ({
    kind: 'RunnerPool',
    metadata: { name: 'default' },
    spec: { minIdle },
    ...(status ? { status } : {}),
  })
  t.strictSame(missingOf([aPool()]), ['a warm runner of pool default'])
  t.strictSame(missingOf([aPool({ idle: 0, busy: 0 })]), ['a warm runner of pool default'])
  t.strictSame(missingOf([aPool({ idle: 1 }), aPool({ busy: 1 })]), [])
  t.strictSame(missingOf([aPool({ idle: 0 }, 0)]), [], 'a pool that is scaled to zero starts its runners on demand')
})

t.test('ofRelease leaves out pools that do not belong to the release, and their pods', async (t) => {
  const aPool = (name: string, labels: Record<string, string>): Pool => ({ kind: 'RunnerPool', metadata: { name, labels }, spec: {} })
  const aPod = (name: string, pool?: string): Pod => ({
    kind: 'Pod',
    metadata: { name, ...(pool === undefined ? {} : { labels: { 'tintype.dev/pool': pool } }) },
    status: {},
  })
  const ours = [aPool('default', { 'app.kubernetes.io/managed-by': 'Helm' }), aPod('default-1', 'default'), aPod('minio-0'), aWorkload({})]
  t.strictSame(ofRelease([...ours, aPool('mine', {}), aPod('mine-1', 'mine')]), ours)
})
