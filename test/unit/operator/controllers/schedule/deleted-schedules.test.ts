import t from 'tap'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { DeletedSchedules } from '../../../../../operator/src/controllers/schedule/deleted-schedules.ts'
import { aScreenshot, completedStatus } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'

const key = 'tintype/home'
const schedule = (template: object = {}): ScreenshotSchedule => ({
  metadata: { name: 'home', namespace: 'tintype', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { accountName: 'acme', schedule: '@daily', template: { url: 'https://example.com/', ...template }, comparison: {} },
  status: { baseline: { id: 'scr_1', time: '2026-06-01T00:00:00Z', key: 'baselines/acme/u/scr_1', etag: 'e' } },
})

function start(runs: Screenshot[]) {
  const bucket = new MemoryBucket()
  for (const object of ['baselines/acme/u/scr_1', 'baselines/acme/u2/scr_1', 'schedules/acme/home.jwe']) bucket.objects.set(object, '')
  const reflectors = { screenshots: { lister: { byIndex: () => runs } } }
  return { bucket, deleted: new DeletedSchedules({ reflectors, storage: bucket.storage } as never) }
}

t.test('the objects of a deleted schedule are removed after its last run', async (t) => {
  const runs = [aScreenshot()]
  const { bucket, deleted } = start(runs)
  deleted.add(schedule({ optionsObject: 'schedules/acme/home.jwe' }))
  t.ok((await deleted.remove(key))?.requeueAfterMilliseconds)
  t.equal(bucket.keys().length, 3)
  runs[0] = aScreenshot({ status: completedStatus() })
  t.equal(await deleted.remove(key), undefined)
  t.strictSame(bucket.keys(), ['baselines/acme/u2/scr_1'])
})

t.test('options of a later schedule with the same name stay', async (t) => {
  const { bucket, deleted } = start([])
  deleted.add(schedule())
  await deleted.remove(key)
  t.strictSame(bucket.keys(), ['baselines/acme/u2/scr_1', 'schedules/acme/home.jwe'])
})
