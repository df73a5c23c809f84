import t from 'tap'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import type { StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { runIdOf } from '../../../../../crds/src/records/run.ts'
import { baselineKey } from '../../../../../crds/src/records/storage-keys.ts'
import type { Decision } from '../../../../../operator/src/controllers/schedule/decide.ts'
import { type Action, type Copied, decideWrites } from '../../../../../operator/src/controllers/schedule/decide-writes.ts'

const due = new Date('2026-06-01T09:00:00Z')
const now = new Date('2026-06-01T09:00:01Z')
const idOf = (hour: number): string => runIdOf('u', new Date(`2026-06-01T0${hour}:00:00Z`))
const pictureOf = (hour: number) => ({
  ...{ id: idOf(hour), time: `2026-06-01T0${hour}:00:00.000Z`, etag: 'e' },
  key: baselineKey('default', 'u', idOf(hour)),
})
const aSchedule = (given: Partial<StoredSchedule> = {}): StoredSchedule => ({
  metadata: { name: 'home', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { schedule: '0 * * * *', template: { url: 'https://example.com/' }, comparison: { baseline: 'Approved' } },
  status: { baseline: pictureOf(1) },
  ...given,
})
const aDecision = (given: Partial<Decision> = {}): Decision => ({
  ready: { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' },
  timing: { schedule: '0 * * * *' },
  baseline: { kept: pictureOf(1), candidates: [], isLost: false },
  ...given,
})
function find(copied: Partial<Copied>, decision: Partial<Decision> = {}, schedule = aSchedule()) {
  const observed = { schedule, account: undefined, isQuotaSpent: false, open: [], ended: [] }
  const actions = decideWrites(observed, aDecision(decision), { kept: pictureOf(1), approval: undefined, ...copied }, now)
  const one = <Name extends Action['do']>(name: Name) =>
    actions.find((action): action is Extract<Action, { do: Name }> => action.do === name)
  return { names: actions.map((action) => action.do), one }
}

t.test('decideWrites creates a run before the status names it, and compares it with the picture that was approved just now', async (t) => {
  const { names, one } = find(
    { approval: { baseline: pictureOf(2), isNew: true } },
    { due: { id: idOf(9), time: due, lateMilliseconds: 1_000 }, handled: due },
  )
  t.strictSame(names, ['createRun', 'writeStatus', 'report', 'annotate'])
  t.match(one('createRun'), { run: { id: idOf(9) }, of: { status: { baseline: { key: pictureOf(2).key, id: idOf(2) } } } })
  t.match(one('writeStatus')?.status, {
    active: [{ id: idOf(9), time: due.toISOString() }],
    baseline: { id: idOf(2) },
    approvals: [{ id: idOf(2), replaced: { id: idOf(1) } }],
  })
  t.match(one('report'), { event: { reason: 'Approved' } })
  t.strictSame(one('annotate')?.annotations, { [Annotation.approve]: null, [Annotation.approvedBy]: null })
})

t.test('decideWrites names the approval in the annotation before it undoes it', async (t) => {
  const { one } = find({ approval: { request: 'undo 1' } })
  t.strictSame(one('annotate')?.annotations, { [Annotation.approve]: 'undo 1' })
})

t.test('decideWrites keeps the picture when an approval is refused, and answers the request', async (t) => {
  const { names, one } = find({ approval: { refusal: 'No run has succeeded yet.' } })
  t.match(one('writeStatus')?.status, { baseline: { id: idOf(1) } })
  t.match(one('report'), { event: { reason: 'ApprovalRefused' } })
  t.ok(names.includes('annotate'))
})

t.test('decideWrites removes pictures only if the schedule no longer needs one', async (t) => {
  const previous = aSchedule({ spec: { ...aSchedule().spec, comparison: {} } })
  t.strictSame(find({ kept: pictureOf(2) }, {}, previous).one('removePictures')?.kept, [pictureOf(2).key])
  t.notOk(find({}, {}, previous).names.includes('removePictures'))
  t.notOk(find({ approval: { baseline: pictureOf(2), isNew: true } }).names.includes('removePictures'), 'an approval can be undone')
})

t.test('decideWrites writes nothing when all is written', async (t) => {
  const written = Object.entries(find({}).one('writeStatus')!.status).filter(([, value]) => value !== null)
  t.strictSame(find({}, {}, aSchedule({ status: Object.fromEntries(written) as StoredSchedule['status'] })).names, [])
  const plain = aSchedule({ spec: { schedule: '0 * * * *', template: { url: 'https://example.com/' } }, status: undefined })
  t.strictSame(find({ kept: undefined }, {}, plain).names, ['writeStatus'])
})
