import t, { type Test } from 'tap'
import { accounts, accountUsages, screenshotSchedules, screenshots } from '../../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../../crds/client/resource.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation, toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { AccountUsage } from '../../../../../crds/src/kinds/account.ts'
import type { CaptureResult, Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotScheduleSpec } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import { runIdOf } from '../../../../../crds/src/records/run.ts'
import { recordKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { anAccount, aSchedule, aScreenshot, at, completedStatus } from '../../../../support/fakes/builders.ts'
import type { OperatorStage } from '../../../../support/fakes/operator-stage.ts'
import { signed } from '../../../../support/sources/mark-checks.ts'
import { startSchedule } from './stage.ts'

const HOUR = 3_600
/** Runs may overlap, and each is compared with the last picture. */
const OVERLAPPING = { concurrencyPolicy: 'Allow', comparison: {} } as const
const OTHERS = ['baselines/acme/u2/scr_1', 'schedules/acme/other.jwe']

/** A schedule with runs that have begun, at the start of each hour. */
async function startRuns(t: Test, count: number, given: Partial<ScreenshotScheduleSpec> = OVERLAPPING) {
  const stage = await startSchedule(t, given)
  for (const key of OTHERS) stage.bucket.objects.set(key, '')
  for (let n = 0; n < count; n++) await stage.begin()
  return {
    ...stage,
    keys: () => stage.bucket.keys('baselines/acme/home/'),
    ids: stage.runs().map(({ metadata }) => screenshotIdOf(metadata)),
  }
}

t.test('a run exists before the status names it, and a status that could not be written names it later', async (t) => {
  const { cluster, settle, passTo, runs, get, begin } = await startRuns(t, 0)
  cluster.fault = ({ verb, subresource }) => (verb === 'patch' && subresource === 'status' ? 'refused' : undefined)
  const run = await begin()
  t.strictSame([runs().length, get().status?.active], [1, undefined])
  cluster.fault = () => undefined
  await passTo(HOUR + 60)
  await settle()
  t.match(get().status, {
    active: [{ id: screenshotIdOf(run.metadata), time: at(HOUR).toISOString() }],
    ...{ lastScheduleTime: at(HOUR).toISOString(), nextScheduleTime: at(2 * HOUR).toISOString(), recentRuns: undefined },
    conditions: [{ type: 'Ready', observedGeneration: 1 }],
  })
  t.equal(runs().length, 1)
})

t.test('a run is created once, although the response was lost', async (t) => {
  const { cluster, passTo, runs, get } = await startRuns(t, 0)
  let lost = 0
  cluster.fault = ({ verb, resource }) => (verb === 'create' && resource === 'screenshots' && lost++ === 0 ? 'lost' : undefined)
  await passTo(HOUR + 60)
  t.strictSame([runs().length, get().status?.active?.length], [1, 1])
})

const runId = runIdOf('home', at(0))
const scheduleRef = { name: 'home', uid: 'home', time: at(0).toISOString() }
const aRun = (status: Screenshot['status'] = { phase: 'Pending' }) =>
  aScreenshot({ name: toObjectName(runId), spec: { accountName: 'acme', scheduleRef }, status })
const tombstone = tombstoneKey('acme', runId)
for (const [what, leave, live, outcome] of [
  ['is still open', ({ cluster }) => cluster.put<Screenshot>(screenshots, aRun()), 1, undefined],
  ['has ended', ({ cluster }) => cluster.put<Screenshot>(screenshots, aRun(completedStatus())), 1, 'completed'],
  ['is archived', ({ bucket }) => bucket.objects.set(recordKey('acme', runId), toArchivedLine(aRun(completedStatus()))), 0, 'completed'],
  ['is deleted', ({ bucket }) => bucket.objects.set(tombstone, signed(tombstone)), 0, 'deleted'],
] as [string, (operator: OperatorStage) => unknown, number, string | undefined][]) {
  t.test(`a run that ${what} when the next leader looks is not created again`, async (t) => {
    const { runs, get, bucket } = await startSchedule(t, {}, ['home'], (operator) => {
      const status = { lastScheduleTime: at(-HOUR).toISOString() }
      operator.cluster.put(screenshotSchedules, aSchedule({ metadata: { uid: 'home' }, spec: { accountName: 'acme' }, status }))
      leave(operator)
    })
    t.equal(runs().length, live)
    t.match(get().status, { lastScheduleTime: at(0).toISOString(), nextScheduleTime: at(HOUR).toISOString() })
    t.equal(get().status?.recentRuns?.[0]?.outcome, outcome)
    t.equal(bucket.keys('runs/acme/home/').length, outcome ? 1 : 0)
  })
}

t.test('a due run is compared with the picture that was approved just now', async (t) => {
  const { cluster, clock, settle, get, run, ask, runs, events } = await startRuns(t, 0, { comparison: { baseline: 'Approved' } })
  const first = await run()
  await ask(first)
  const second = await run()
  const request = { metadata: { annotations: { [Annotation.approve]: second, [Annotation.approvedBy]: 'key_1' } } }
  clock.second = 3 * HOUR + 1
  await cluster.client(screenshotSchedules).patch('home', mergePatch(request))
  await settle()
  const [, , third] = runs()
  t.match(third?.spec, { baseline: { key: `baselines/acme/home/${second}` }, options: { compareTo: second } })
  t.match(get().status, {
    active: [{ id: screenshotIdOf(third!.metadata), time: at(3 * HOUR).toISOString() }],
    baseline: { id: second },
    approvals: [{ id: second, replaced: { id: first } }, { id: first }],
  })
  t.strictSame(get().metadata.annotations ?? {}, {})
  t.match(events.at(-1), /^Normal Approved home/)
})

const usage = (used: number) => ({ metadata: { name: 'acme' }, spec: { limit: 10 }, status: { period: '2026-11', used } }) as AccountUsage
type Cluster = Awaited<ReturnType<typeof startRuns>>['cluster']
for (const [reason, block, unblock] of [
  ['AccountNotFound', (cluster) => cluster.remove(accounts, 'acme'), (cluster) => cluster.put(accounts, anAccount({ name: 'acme' }))],
  [
    'AccountSuspended',
    (cluster) => cluster.put(accounts, anAccount({ name: 'acme', spec: { suspended: true } })),
    (cluster) => cluster.put(accounts, anAccount({ name: 'acme' })),
  ],
  ['QuotaExceeded', (cluster) => cluster.put(accountUsages, usage(10)), (cluster) => cluster.put(accountUsages, usage(9))],
] as [string, (cluster: Cluster) => unknown, (cluster: Cluster) => unknown][]) {
  t.test(`${reason} stops a schedule with one Event, and only the last of the missed runs follows`, async (t) => {
    const { cluster, settle, passTo, runs, events, change, clock } = await startRuns(t, 0)
    block(cluster)
    await settle()
    for (const hour of [1, 2, 3]) await passTo(hour * HOUR + 60)
    t.strictSame([runs(), events.length], [[], 1])
    t.ok(events[0]?.startsWith(`Warning ${reason} home`))
    unblock(cluster)
    await settle()
    // A change of the usage alone is noticed when the next run is due.
    if (reason === 'QuotaExceeded') await change({ spec: { startingDeadlineSeconds: 86_400 } })
    t.match(runs(), [{ spec: { scheduleRef: { time: at(3 * HOUR).toISOString() } } }])
    t.equal(runs().length, 1)
    t.match(events[1], /^Normal Scheduled home/)
    t.equal(clock.second, 3 * HOUR + 60)
  })
}

t.test('a run of a schedule with 300 KB of html gets all of it, although the cache leaves it out', async (t) => {
  const options = { html: 'x'.repeat(300_000), delay: 1 }
  const { begin, reflectors } = await startRuns(t, 0, { template: { url: 'about:html', options } })
  t.strictSame((await begin()).spec.options, options)
  t.strictSame(reflectors.schedules.lister.get('default/home')?.spec.template.options, { delay: 1 })
})

t.test('a schedule that has not changed is not written again', async (t) => {
  for (const comparison of [undefined, {}, { baseline: 'Approved', approveFirst: true } as const]) {
    const { cluster, settle, run, metric } = await startRuns(t, 0, comparison ? { comparison } : {})
    await run()
    const written = cluster.writes.length
    cluster.put(accounts, anAccount({ name: 'acme', metadata: { labels: { tier: 'a' } } }))
    await settle()
    t.equal(cluster.writes.length, written)
    t.strictSame(await metric('schedule_runs_ended_total'), { 'outcome=completed': 1 }, 'each end counts once')
  }
})

t.test('a picture is kept as long as the schedule or an open run needs it', async (t) => {
  const { begin, end, run, keys, bucket } = await startRuns(t, 0)
  const pictures = (...ids: string[]) => ids.flatMap((id) => [`baselines/acme/home/${id}`, `baselines/acme/home/${id}.txt`]).toSorted()
  const withoutText = await end(await begin(), { artifacts: [] })
  t.strictSame(keys(), [`baselines/acme/home/${withoutText}`])
  const first = await run()
  t.strictSame(keys().toSorted(), pictures(first))
  const open = await begin()
  const later = await run()
  t.strictSame(keys().toSorted(), pictures(first, later))
  await end(open)
  const last = await run()
  t.strictSame(keys().toSorted(), pictures(last))
  t.ok(bucket.objects.has(OTHERS[0]!), 'the pictures of another schedule stay')
})

t.test('the picture goes with the comparison', async (t) => {
  const { run, change, keys, get } = await startRuns(t, 0)
  await run()
  t.equal(keys().length, 2)
  await change({ spec: { comparison: null } })
  t.strictSame([keys(), get().status?.baseline], [[], undefined])
})

t.test('the last picture whose file exists is kept, with its text and the facts of its page', async (t) => {
  const { cluster, passTo, end, get, runs, bucket, settle, keys } = await startRuns(t, 2)
  // The leader sees both ends at once.
  cluster.fault = ({ verb, subresource }) => (verb === 'patch' && subresource === 'status' ? 'refused' : undefined)
  const facts: CaptureResult = {
    ...{ finalUrl: 'https://example.com/end', forms: ['password'] },
    ignored: [{ selector: '#ad', boxes: [{ x: 1, y: 2, width: 3, height: 4 }] }],
  }
  const comeBack = bucket.goAway('copy')
  const second = await end(runs()[0]!, facts)
  const third = await end(runs()[1]!)
  bucket.objects.delete(`users/acme/${third}.png`)
  comeBack()
  cluster.fault = () => undefined
  await passTo(2 * HOUR + 60)
  await settle()
  const key = `baselines/acme/home/${second}`
  t.strictSame(get().status?.baseline, {
    ...{ id: second, time: at(HOUR).toISOString(), key, etag: bucket.etagOf(key) },
    ...{ text: { key: `${key}.txt`, etag: bucket.etagOf(`${key}.txt`) }, ...facts },
  })
  t.strictSame([bucket.objects.get(key), bucket.objects.get(`${key}.txt`)], [`${second}.png`, `${second}.txt`])
  t.equal(keys().length, 2)
})

t.test('a picture without text and facts leaves none of the earlier picture in the status', async (t) => {
  const { run, begin, end, get, runs } = await startRuns(t, 0)
  await run({ finalUrl: 'https://example.com/end', forms: ['password'] })
  t.match(get().status?.baseline, { text: { key: /\.txt$/ }, forms: ['password'] })
  const second = await end(await begin(), { artifacts: [] })
  const { baseline } = get().status ?? {}
  t.strictSame(Object.keys(baseline ?? {}).toSorted(), ['etag', 'id', 'key', 'time'])
  t.equal(baseline?.id, second)
  await begin()
  t.strictSame(runs().at(-1)?.spec.baseline?.text, undefined)
})

t.test('the present picture stays if the file of a later run is gone', async (t) => {
  const { run, begin, end, bucket, settle, get } = await startRuns(t, 0)
  const first = await run()
  await end(await begin(), { etag: 'of a file that was replaced' })
  await settle()
  t.equal(get().status?.baseline?.id, first)
  t.equal(bucket.keys('baselines/acme/home/').length, 2)
})

t.test('more ignored areas than a status can store are left out', async (t) => {
  for (const [count, stored] of [
    [20, 20],
    [21, undefined],
  ]) {
    const { run, get } = await startRuns(t, 0)
    const id = await run({ ignored: Array.from({ length: count! }, () => ({ selector: '#ad', boxes: [] })) })
    const { baseline } = get().status ?? {}
    t.strictSame([baseline?.id, baseline?.ignored?.length], [id, stored])
  }
})

t.test('the objects of a deleted schedule are removed after its last run', async (t) => {
  const { cluster, passTo, run, begin, end, clock, bucket } = await startRuns(t, 0, {
    ...{ concurrencyPolicy: 'Allow', comparison: {} },
    template: { url: 'https://example.com/', optionsObject: 'schedules/acme/home.jwe' },
  })
  bucket.objects.set('schedules/acme/home.jwe', '')
  await run()
  const open = await begin()
  const before = bucket.keys()
  cluster.remove(screenshotSchedules, 'home')
  await passTo(clock.second + 90)
  t.strictSame(bucket.keys(), before)
  const id = await end(open)
  await passTo(clock.second + 30)
  const left = bucket.keys().filter((key) => !key.includes(id))
  t.strictSame(
    before.filter((key) => !left.includes(key) && !key.includes(id)).map((key) => key.replace(/scr_\w+/, 'ID')),
    ['baselines/acme/home/ID', 'baselines/acme/home/ID.txt', 'schedules/acme/home.jwe'],
  )
  for (const key of OTHERS) t.ok(bucket.objects.has(key), key)
})

t.test('options of a later schedule with the same name stay', async (t) => {
  const { cluster, run, settle, keys, bucket } = await startRuns(t, 0)
  await run()
  bucket.objects.set('schedules/acme/home.jwe', '')
  cluster.remove(screenshotSchedules, 'home')
  await settle()
  t.strictSame(keys(), [])
  t.ok(bucket.objects.has('schedules/acme/home.jwe'))
})

t.test('a deleted schedule ran while a finalizer kept it, and a deleted run that a finalizer kept was active for ever', async (t) => {
  const { begin, get, runs, cluster, settle, passTo } = await startRuns(t, 0)
  const kept = { deletionTimestamp: at(1).toISOString(), finalizers: ['example.com/held'] }
  const run = await begin()
  cluster.put<Screenshot>(screenshots, { ...run, metadata: { ...run.metadata, ...kept } })
  await settle()
  t.match(get().status, { active: undefined, recentRuns: [{ outcome: 'deleted' }] })
  cluster.put(screenshotSchedules, { ...get(), metadata: { ...get().metadata, ...kept } })
  await passTo(5 * HOUR)
  t.equal(runs().length, 1)
})
