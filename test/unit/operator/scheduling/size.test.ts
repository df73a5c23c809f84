import t from 'tap'
import { CaptureTimes, wantedPods } from '../../../../operator/src/scheduling/size.ts'
import { aRunnerPool } from '../../../support/fakes/builders.ts'

const cases = [
  { name: 'keeps minIdle when nothing happens', spec: { minIdle: 2 }, load: { busy: 0, queued: 0 }, pods: 2 },
  { name: 'keeps idle pods on top of what is busy', spec: { minIdle: 2 }, load: { busy: 3, queued: 0 }, pods: 5 },
  { name: 'adds pods to drain the queue in time', spec: { minIdle: 0 }, load: { busy: 0, queued: 10 }, pods: 3 },
  { name: 'never exceeds maxPods', spec: { minIdle: 5, maxPods: 4 }, load: { busy: 4, queued: 1000 }, pods: 4 },
  { name: 'is zero when minIdle is 0 and the queue is empty', spec: { minIdle: 0 }, load: { busy: 0, queued: 0 }, pods: 0 },
  { name: 'is one when minIdle is 0 and one Screenshot is queued', spec: { minIdle: 0 }, load: { busy: 0, queued: 1 }, pods: 1 },
  { name: 'has one idle pod and at most ten pods by default', spec: {}, load: { busy: 0, queued: 1000 }, pods: 10 },
]
for (const { name, spec, load, pods } of cases) {
  t.test(`wantedPods ${name}`, async (t) => {
    t.equal(wantedPods(aRunnerPool({ spec }).spec, { ...load, meanCaptureMilliseconds: 3_000 }), pods)
  })
}

t.test('CaptureTimes starts with an estimate, then follows the measurements', async (t) => {
  const times = new CaptureTimes()
  t.equal(times.of('default'), 3_000)
  times.note('default', 1_000)
  t.equal(times.of('default'), 1_000)
  times.note('default', 2_000)
  t.equal(times.of('default'), 1_100)
  t.equal(times.of('other'), 3_000)
})
