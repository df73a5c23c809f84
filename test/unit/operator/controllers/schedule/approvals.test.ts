import t from 'tap'
import { derivedId } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation, toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { baselineKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import type { Approval } from '../../../../../operator/src/controllers/schedule/approvals.ts'
import { keysOfApprovals, updateApprovals } from '../../../../../operator/src/controllers/schedule/approvals.ts'
import { approve } from '../../../../../operator/src/controllers/schedule/approve.ts'
import type { ScheduleContext } from '../../../../../operator/src/controllers/schedule/context.ts'
import { aScreenshot, completedStatus } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'

const DAY = 86_400_000
const timeOf = (hour: number): string => `2026-06-01T${String(hour).padStart(2, '0')}:00:00.000Z`
const idOf = (hour: number): string => derivedId('scr', new Date(timeOf(hour)), 'run')

/** A schedule with approval, its runs of the hours 1 to 15, and the bucket. */
function aStage(baseline: 'Approved' | 'Previous' = 'Approved') {
  const bucket = new MemoryBucket()
  const shots = new Map<string, Screenshot>()
  for (let hour = 1; hour <= 15; hour++) {
    const shot = aScreenshot({
      name: toObjectName(idOf(hour)),
      metadata: { creationTimestamp: timeOf(hour) },
      spec: { accountName: 'acme', scheduleRef: { name: 'home', uid: 'u', time: timeOf(hour) } },
      status: completedStatus({ result: { format: 'png', etag: 'e', finalUrl: `https://example.com/${hour}`, artifacts: TEXT } }),
    })
    shots.set(`default/${toObjectName(idOf(hour))}`, shot)
  }
  const time = { now: Date.parse('2026-06-02T00:00:00Z') }
  const deps = {
    config: { namespace: 'default' },
    reflectors: { screenshots: { lister: { get: (key: string) => shots.get(key), byIndex: () => [] } } },
    storage: {
      ...bucket.storage,
      copy: async ({ to }: { to: string }) => {
        bucket.objects.set(to, 'picture')
        return `etag of ${to.slice(-6)}`
      },
    },
    report: () => {},
    now: () => new Date(time.now),
  } as unknown as ScheduleContext
  const schedule: StoredSchedule = {
    metadata: { name: 'home', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: timeOf(0) },
    spec: { accountName: 'acme', schedule: '0 * * * *', template: { url: 'https://example.com/' }, comparison: { baseline } },
    status: {},
  }
  /** One reconcile with the annotation, as the controller does it. */
  const reconcile = async (request?: string, by?: string): Promise<Approval | undefined> => {
    time.now += 1_000
    schedule.metadata.annotations = {
      ...(request === undefined ? {} : { [Annotation.approve]: request }),
      ...(by === undefined ? {} : { [Annotation.approvedBy]: by }),
    }
    const approval = await approve(schedule, [], deps)
    const approvals = updateApprovals(schedule, approval, deps.now())
    const changed = approval && 'baseline' in approval ? approval.baseline : schedule.status?.baseline
    schedule.status = { ...schedule.status, approvals, ...(changed ? { baseline: changed } : {}) }
    if (!changed) delete schedule.status.baseline
    return approval
  }
  /** A plain undo needs two reconciles: the first one names the approval. */
  const undo = async (by?: string): Promise<Approval | undefined> => {
    const named = await reconcile('undo', by)
    return named && 'request' in named ? reconcile(named.request, by) : named
  }
  const history = () => (schedule.status?.approvals ?? []).map(({ id }) => id)
  return { bucket, shots, time, schedule, reconcile, undo, history }
}
const TEXT = [{ type: 'text' as const, fileSizeBytes: 5, etag: 't' }]
const keyOf = (hour: number): string => baselineKey('acme', 'u', idOf(hour))

t.test('nobody could see who approved which run, and which one it replaced', async (t) => {
  const { schedule, reconcile } = aStage()
  await reconcile(idOf(1), 'key_1')
  await reconcile(idOf(3))
  t.match(schedule.status?.approvals, [
    { id: idOf(3), approvalTime: '2026-06-02T00:00:02.000Z', replaced: { id: idOf(1), time: timeOf(1), etag: String } },
    { id: idOf(1), approvalTime: '2026-06-02T00:00:01.000Z', by: 'key_1' },
  ])
  t.notHas(schedule.status?.approvals?.[1], 'replaced')
  await reconcile(idOf(3))
  t.equal(schedule.status?.approvals?.length, 2, 'a second approval of the same run changes nothing')
})

t.test('an approval could not be undone: each undo returns to the baseline before', async (t) => {
  const { schedule, reconcile, undo } = aStage()
  for (const hour of [1, 2, 3]) await reconcile(idOf(hour))
  t.strictSame(keysOfApprovals(schedule, schedule.status!.approvals!), [keyOf(2), keyOf(1)])
  t.match(await undo('key_2'), { undone: { id: idOf(3) }, isNew: true })
  t.match(schedule.status?.baseline, {
    ...{ id: idOf(2), key: keyOf(2), finalUrl: 'https://example.com/2', time: timeOf(2) },
    text: { key: `${keyOf(2)}.txt` },
  })
  t.match(schedule.status?.approvals?.[0], { id: idOf(3), undoneTime: String, undoneBy: 'key_2' })
  await undo()
  t.equal(schedule.status?.baseline?.id, idOf(1))
  t.strictSame(keysOfApprovals(schedule, schedule.status!.approvals!), [])
  await reconcile(idOf(5))
  await undo()
  t.equal(schedule.status?.baseline?.id, idOf(1))
  t.match(await undo(), { undone: { id: idOf(1) } })
  t.equal(schedule.status?.baseline, undefined, 'before the first approval there was none')
  t.strictSame(await undo(), { refusal: 'There is no approval to undo.' })
})

t.test('an undo that another leader applies again undoes nothing more', async (t) => {
  const { schedule, reconcile } = aStage()
  for (const hour of [1, 2, 3]) await reconcile(idOf(hour))
  const named = await reconcile('undo')
  t.match(named, { request: 'undo/2026-06-02T00:00:03.000Z' })
  t.equal(schedule.status?.baseline?.id, idOf(3))
  const { request } = named as { request: string }
  t.match(await reconcile(request), { isNew: true })
  t.match(await reconcile(request), { isNew: false })
  t.equal(schedule.status?.baseline?.id, idOf(2))
  t.match(await reconcile('undo/2026-06-02T00:00:01.000Z'), { refusal: /is not the run that was approved last/ })
  t.match(await reconcile('undo/yesterday'), { refusal: 'There is no approval to undo.' })
})

t.test('approvals of the same instant can be undone one after the other', async (t) => {
  const { schedule, time, reconcile, undo } = aStage()
  for (const hour of [1, 2, 3]) {
    time.now = Date.parse('2026-06-02T00:00:00Z')
    await reconcile(idOf(hour))
  }
  await undo()
  await undo()
  t.equal(schedule.status?.baseline?.id, idOf(1))
})

t.test('the history has ten approvals and keeps the pictures that they replaced, for 30 days', async (t) => {
  const { schedule, time, reconcile, undo, history } = aStage()
  for (let hour = 1; hour <= 12; hour++) await reconcile(idOf(hour))
  t.strictSame(
    history(),
    Array.from({ length: 10 }, (_, index) => idOf(12 - index)),
  )
  t.equal(keysOfApprovals(schedule, schedule.status!.approvals!).length, 10)
  time.now += 29 * DAY
  await reconcile()
  t.equal(keysOfApprovals(schedule, schedule.status!.approvals!).length, 10)
  time.now += 2 * DAY
  await reconcile()
  t.strictSame(keysOfApprovals(schedule, schedule.status!.approvals!), [])
  t.equal(history().length, 10)
  t.match(await undo(), { refusal: `The picture of run ${idOf(11)} is gone. Approve another run.` })
  t.equal(schedule.status?.baseline?.id, idOf(12))
})

t.test('an undo is refused when the bucket has lost the picture, and when its run was deleted', async (t) => {
  const { bucket, shots, schedule, reconcile, undo } = aStage()
  for (const hour of [1, 2, 3]) await reconcile(idOf(hour))
  bucket.objects.delete(keyOf(2))
  t.match(await undo(), { refusal: /is gone/ })
  bucket.objects.set(keyOf(2), 'picture')
  shots.delete(`default/${toObjectName(idOf(2))}`)
  bucket.objects.set(tombstoneKey('acme', idOf(2)), '')
  t.match(await undo(), { refusal: /is gone/ })
  t.equal(schedule.status?.baseline?.id, idOf(3))
})

t.test('a run that is approved again is copied again, and the history knows the new copy', async (t) => {
  const { schedule, reconcile } = aStage()
  for (const hour of [1, 2]) await reconcile(idOf(hour))
  schedule.status!.approvals![0]!.replaced!.etag = 'old'
  await reconcile(idOf(1))
  t.equal(schedule.status?.approvals?.[1]?.replaced?.etag, schedule.status?.baseline?.etag)
})

t.test('runs that are compared with the previous one have no history', async (t) => {
  const { schedule, reconcile, undo } = aStage()
  await reconcile(idOf(1))
  schedule.spec.comparison = { baseline: 'Previous' }
  t.match(await undo(), { refusal: /Set spec.comparison.baseline to Approved/ })
  t.strictSame(schedule.status?.approvals, [])
})
