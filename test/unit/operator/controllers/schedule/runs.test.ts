import t, { type Test } from 'tap'
import { accounts, screenshotSchedules } from '../../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../../crds/client/patch.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import type { CaptureResult } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ScreenshotScheduleSpec } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { anAccount, at } from '../../../../support/fakes/builders.ts'
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

t.test('a schedule stops without its account, and goes on at once when the account exists again', async (t) => {
  const { cluster, settle, passTo, runs, events } = await startRuns(t, 0)
  cluster.remove(accounts, 'acme')
  await settle()
  await passTo(HOUR + 60)
  t.strictSame([runs(), events.length], [[], 1])
  t.match(events[0], /^Warning AccountNotFound home/)
  cluster.put(accounts, anAccount({ name: 'acme' }))
  await settle()
  t.equal(runs().length, 1)
  t.match(events[1], /^Normal Scheduled home/)
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
