import t from 'tap'
import { imageSettings, missingOf, withImage } from '../../cluster/release.ts'

t.test('imageSettings gives each program of the chart the tag of its image', async (t) => {
  const tags = new Map([
    ['api-gateway', 'aaa'],
    ['minio', 'bbb'],
    ['sites', 'ccc'],
  ])
  t.strictSame(imageSettings(tags), ['gateway.image.tag=aaa', 'minio.image.tag=bbb'])
})

t.test('withImage puts the tag of this build into a manifest', async (t) => {
  const manifest = 'image: localhost/tintype/sites:dev\nimage: localhost/tintype/other:dev\n'
  t.equal(
    withImage(manifest, 'sites', new Map([['sites', 'aaa']])),
    'image: localhost/tintype/sites:aaa\nimage: localhost/tintype/other:dev\n',
  )
  t.equal(withImage(manifest, 'sites', new Map()), manifest)
})

type Workload = Parameters<typeof missingOf>[0][number]
const aWorkload = (status: Workload['status'], replicas?: number): Workload => ({
  kind: 'Deployment',
  metadata: { name: 'operator', namespace: 'tintype', generation: 3 },
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
    name: 'a workload whose change was not looked at yet',
    workload: aWorkload({ observedGeneration: 2, readyReplicas: 2, updatedReplicas: 2, replicas: 2 }, 2),
    missing: ['operator 2/2'],
  },
]
for (const { name, workload, missing } of cases) {
  t.test(`missingOf names ${name}`, async (t) => t.strictSame(missingOf([workload]), missing))
}
