import t, { type Test } from 'tap'
import { screenshots } from '../../../../../crds/client/kinds.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import { baselineKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { at } from '../../../../support/fakes/builders.ts'
import { type ScheduleStage, startSchedule } from './stage.ts'

const DAY = 86_400

/** A schedule with approval, and the ids of its first runs. */
async function start(t: Test, runs: number) {
  const stage = await startSchedule(t, { comparison: { baseline: 'Approved' } })
  const ids: string[] = []
  for (let n = 0; n < runs; n++) ids.push(await stage.run({ finalUrl: `https://example.com/${n}` }))
  return { ...stage, ids }
}
const approvals = ({ get }: Pick<ScheduleStage, 'get'>) => get().status?.approvals ?? []
const lastEvent = ({ events }: Pick<ScheduleStage, 'events'>) => events.at(-1)
const isAsked = ({ get }: Pick<ScheduleStage, 'get'>) => Object.keys(get().metadata.annotations ?? {}).length > 0

t.test('the first run waits for a person, with one Event, and is the baseline once the latest run is approved', async (t) => {
  const stage = await start(t, 2)
  t.strictSame([stage.baseline(), stage.runs()[1]?.spec.options?.compareTo], [undefined, undefined])
  t.equal(stage.events.filter((event) => event.includes('WaitingForApproval')).length, 1)
  await stage.ask('latest')
  t.equal(stage.baseline(), stage.ids[1])
  await stage.run()
  t.equal(stage.runs()[2]?.spec.options?.compareTo, stage.ids[1])
})

t.test('nobody could see who approved which run, and which one it replaced', async (t) => {
  const stage = await start(t, 3)
  const [first = '', , third = ''] = stage.ids
  await stage.ask(first, 'key_1')
  t.match(lastEvent(stage), `Normal Approved home: Run ${first} was approved.`)
  await stage.ask(third)
  t.match(approvals(stage), [
    { id: third, approvalTime: at(10_802).toISOString(), replaced: { id: first, time: at(3_600).toISOString(), etag: String } },
    { id: first, approvalTime: at(10_801).toISOString(), by: 'key_1' },
  ])
  t.notHas(approvals(stage)[1], 'replaced')
  t.notOk(isAsked(stage), 'the request is removed')
  await stage.ask(third)
  t.equal(approvals(stage).length, 2, 'a second approval of the same run changes nothing')
})

t.test('an approval could not be undone: each undo returns to the baseline before', async (t) => {
  const stage = await start(t, 5)
  const [first = '', second = '', third = '', , fifth = ''] = stage.ids
  for (const id of [first, second, third]) await stage.ask(id)
  t.strictSame(stage.kept(), [third, second, first].sort())
  await stage.ask('undo', 'key_2')
  t.match(
    lastEvent(stage),
    `Normal ApprovalUndone home: The approval of run ${third} was undone. Later runs are compared with run ${second}.`,
  )
  const key = baselineKey('acme', 'home', second)
  t.match(stage.get().status?.baseline, {
    id: second,
    key,
    finalUrl: 'https://example.com/1',
    time: at(7_200).toISOString(),
    text: { key: `${key}.txt` },
  })
  t.match(approvals(stage)[0], { id: third, undoneTime: String, undoneBy: 'key_2', replaced: { etag: undefined } })
  await stage.ask('undo')
  t.strictSame([stage.baseline(), stage.kept()], [first, [first]])
  await stage.ask(fifth)
  await stage.ask('undo')
  t.equal(stage.baseline(), first)
  await stage.ask('undo')
  t.equal(stage.baseline(), undefined, 'before the first approval there was none')
  await stage.ask('undo')
  t.match(lastEvent(stage), 'Warning ApprovalRefused home: There is no approval to undo.')
})

t.test('an undo that another leader applies again undoes nothing more', async (t) => {
  const stage = await start(t, 3)
  for (const id of stage.ids) await stage.ask(id)
  const [, second, third] = approvals(stage)
    .map(({ approvalTime }) => approvalTime)
    .reverse()
  await stage.ask(`undo/${third}`)
  const undone = stage.events.length
  await stage.ask(`undo/${third}`)
  t.strictSame([stage.baseline(), stage.events.length], [stage.ids[1], undone])
  await stage.ask('undo/2026-06-02T00:00:01.000Z')
  t.match(lastEvent(stage), /ApprovalRefused home: There is no approval to undo\.$/)
  await stage.ask(`undo/${approvals(stage).at(-1)?.approvalTime}`)
  t.match(lastEvent(stage), new RegExp(`ApprovalRefused home: Run ${stage.ids[0]} is not the run that was approved last`))
  await stage.ask(`undo/${second}`)
  t.equal(stage.baseline(), stage.ids[0])
})

t.test('a plain undo names its approval in the annotation before anything changes', async (t) => {
  const stage = await start(t, 1)
  await stage.ask(stage.ids[0]!)
  stage.cluster.fault = ({ verb, subresource }) => (verb === 'patch' && subresource === 'status' ? 'refused' : undefined)
  await stage.ask('undo')
  t.strictSame(stage.get().metadata.annotations, { 'tintype.dev/approve': `undo/${approvals(stage)[0]?.approvalTime}` })
  t.equal(stage.baseline(), stage.ids[0])
})

t.test('approvals of the same instant can be undone one after the other', async (t) => {
  const stage = await start(t, 3)
  for (const id of stage.ids) {
    stage.clock.second = 11_000
    await stage.ask(id)
  }
  await stage.ask('undo')
  await stage.ask('undo')
  t.equal(stage.baseline(), stage.ids[0])
})

t.test('the history has ten approvals and keeps the pictures that they replaced, for 30 days', async (t) => {
  const stage = await start(t, 12)
  for (const id of stage.ids) await stage.ask(id)
  await stage.change({ spec: { suspend: true } })
  t.strictSame(
    approvals(stage).map(({ id }) => id),
    stage.ids.toReversed().slice(0, 10),
  )
  t.equal(stage.kept().length, 11)
  await stage.jump(29 * DAY)
  t.equal(stage.kept().length, 11)
  await stage.jump(2 * DAY)
  t.strictSame([stage.kept(), approvals(stage).length], [[stage.ids[11]], 10])
  await stage.ask('undo')
  t.match(lastEvent(stage), new RegExp(`The picture of run ${stage.ids[10]} is gone. Approve another run.`))
  t.equal(stage.baseline(), stage.ids[11])
})

t.test('an undo is refused when the bucket has lost the picture, and when its run was deleted', async (t) => {
  const stage = await start(t, 3)
  for (const id of stage.ids) await stage.ask(id)
  const [, second = '', third] = stage.ids
  const key = baselineKey('acme', 'home', second)
  const picture = stage.bucket.objects.get(key) ?? ''
  stage.bucket.objects.delete(key)
  await stage.ask('undo')
  t.match(lastEvent(stage), /is gone/)
  stage.bucket.objects.set(key, picture).set(tombstoneKey('acme', second), '')
  stage.cluster.remove(screenshots, toObjectName(second))
  await stage.settle()
  const before = stage.events.length
  await stage.ask('undo')
  t.match([stage.events.length, lastEvent(stage), stage.baseline()], [before + 1, /is gone/, third])
})

t.test('a run that is approved again is copied again, and the history knows the new copy', async (t) => {
  const stage = await start(t, 2)
  const [first = '', second = ''] = stage.ids
  await stage.ask(first)
  await stage.ask(second)
  const replaced = approvals(stage)[0]?.replaced?.etag
  await stage.end(stage.runs()[0]!, { etag: 'another' })
  const key = `users/acme/${first}.png`
  stage.bucket.objects.set(key, 'another picture')
  await stage.cluster
    .client(screenshots)
    .patch(
      toObjectName(first),
      { contentType: 'application/merge-patch+json', body: { status: { result: { etag: stage.bucket.etagOf(key) } } } },
      { subresource: 'status' },
    )
  await stage.ask(first)
  t.equal(approvals(stage)[1]?.replaced?.etag, stage.get().status?.baseline?.etag)
  t.not(approvals(stage)[1]?.replaced?.etag, replaced)
})

t.test('an approval is refused with an Event, and the picture stays, unless a run of the schedule with a file is named', async (t) => {
  const stage = await start(t, 0)
  await stage.ask('latest')
  t.match(lastEvent(stage), 'Warning ApprovalRefused home: No run has succeeded yet.')
  const [first, second] = [await stage.run(), await stage.run()]
  await stage.ask(first)
  stage.bucket.objects.delete(`users/acme/${second}.png`)
  for (const [request, message] of [
    ['home', /home is not the id of a run/],
    ['scr_6ybsne2r7m8z0q3x5v1c4h9kfd', /is not a run of this schedule, or was deleted\.$/],
    [second, /The file of run scr_\w+ has expired\. Approve a later run\.$/],
  ] as const) {
    await stage.ask(request)
    t.match([lastEvent(stage), stage.baseline(), isAsked(stage)], [message, first, false])
  }
})

t.test('runs that are compared with the previous one have no history', async (t) => {
  const stage = await start(t, 1)
  await stage.ask(stage.ids[0]!)
  await stage.change({ spec: { comparison: { baseline: 'Previous' } } })
  await stage.ask('undo')
  t.match([lastEvent(stage), approvals(stage)], [/Set spec.comparison.baseline to Approved/, []])
})
