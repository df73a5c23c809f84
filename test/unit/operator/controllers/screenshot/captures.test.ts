import t from 'tap'
import { accounts, pods, screenshots } from '../../../../../crds/client/kinds.ts'
import { derivedId, newId, screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { toArchivedLine } from '../../../../../crds/src/records/archive.ts'
import { dayOf, objectKey, recordKey, rewriteKey, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { ChargeBackoff } from '../../../../../operator/src/controllers/screenshot/charge.ts'
import { anAccount, aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../../support/fakes/builders.ts'
import { aPod, endedStatus } from '../../../../support/fakes/runners.ts'
import { signed } from '../../../../support/sources/mark-checks.ts'
import { type CaptureStage, startCaptures } from './stage.ts'

t.test('a queued Screenshot is charged, claimed for the idle runner and sent to it', async (t) => {
  const charged: string[] = []
  const stage = await startCaptures(t, async ({ metadata }) => {
    charged.push(metadata.name)
    return 'charged'
  })
  const url = `https://example.com/${'a'.repeat(100)}`
  const { metadata, status } = await stage.add({ name: 'by-hand', spec: { url, options: { format: 'webp' } } })
  const id = screenshotIdOf(metadata)
  const key = objectKey('default', id, 'webp')
  t.match(status, {
    ...{ phase: 'Running', runner: { pod: 'default-1', uid: 'uid-of-default-1' }, attempt: 1, startTime: NOON.toISOString() },
    ...{ id, storagePath: key, url: `${url.slice(0, 79)}…` },
  })
  t.strictSame(stage.conditionsOf('by-hand'), ['Succeeded=Unknown Capturing', 'Charged=True ChargedAtClaim'])
  t.match(stage.orders, [{ uid: metadata.uid, accountName: 'default', attempt: 1, url, upload: { url: `memory:/${key}` } }])
  t.strictSame(charged, ['by-hand'])
  await stage.passTo(60)
  t.equal(stage.orders.length, 1)
})

t.test('a queued Screenshot gets the runner at once when the running one is deleted', async (t) => {
  const stage = await startCaptures(t)
  await stage.add({ name: 'running' })
  t.equal((await stage.add({ name: 'queued' })).status?.phase, 'Pending')
  await stage.remove('running')
  t.equal(stage.get('queued')?.status?.phase, 'Running')
})

t.test('queued captures get the runner by the weights of the plans of their accounts', async (t) => {
  const stage = await startCaptures(t)
  stage.cluster.put(accounts, anAccount({ name: 'large', spec: { plan: 'scale' } }))
  const names = Array.from({ length: 9 }, (_, n) => ['red', 'large'].map((accountName) => ({ name: `${accountName}-${n}`, accountName })))
  await stage.add({ name: 'first' })
  for (const { name, accountName } of names.flat()) await stage.add({ name, spec: { accountName } })
  for (let n = 0; n < 9; n++) await stage.remove(stage.orders.at(-1)?.name ?? '')
  const served = stage.orders.slice(1).map(({ accountName }) => accountName)
  t.strictSame([served.length, served.filter((accountName) => accountName === 'large').length], [9, 8])
})

t.test('an account was blamed for a runner that ran out of memory with a page of another account', async (t) => {
  const stage = await startCaptures(t)
  const runner = { pod: 'default-1', uid: 'uid-of-default-1' }
  const status = { phase: 'Running', runner, attempt: 1, startTime: NOON.toISOString() } as const
  for (const accountName of ['default', 'red'])
    stage.cluster.put<Screenshot>(screenshots, aScreenshot({ name: accountName, spec: { accountName }, status }))
  stage.cluster.put(pods, aPod({ status: endedStatus(137, 'OOMKilled') }))
  await stage.settle()
  for (const name of ['default', 'red']) t.match(stage.get(name)?.status, { phase: 'Pending', attempt: 1, lostRunners: undefined })
})

const deleted = { deletionTimestamp: NOON.toISOString(), finalizers: ['x'] }
for (const [what, account, reservation, isCaptured] of [
  ['of its Account', anAccount({ name: 'acme' }), undefined, true],
  ['without an Account that a gateway has charged', undefined, 'res_1', true],
  ['without an Account', undefined, undefined, false],
  ['of a deleted Account that a finalizer keeps', anAccount({ name: 'acme', metadata: deleted }), undefined, false],
  ['of a deleted Account that a gateway has charged', anAccount({ name: 'acme', metadata: deleted }), 'res_1', false],
] as const) {
  t.test(`a queued capture ${what} ${isCaptured ? 'runs' : 'does not run'}`, async (t) => {
    const stage = await startCaptures(t, async () => 'charged')
    if (account) stage.cluster.put(accounts, account)
    await stage.settle()
    const { status } = await stage.add({ spec: { accountName: 'acme', ...(reservation ? { reservation } : {}) } })
    t.equal(status?.phase, isCaptured ? 'Running' : 'Pending')
  })
}

for (const [outcome, expected, event] of [
  ['quota', { phase: 'Failed', conditions: [{ reason: 'QuotaExceeded' }], result: { error: { code: 'USAGE_LIMIT_REACHED' } } }, []],
  ['suspended', { phase: 'Failed', result: { error: { code: 'ACCOUNT_SUSPENDED' } } }, []],
  ['missing', { phase: 'Pending', conditions: [{ type: 'Succeeded', reason: 'AccountNotFound' }] }, [/^Warning AccountNotFound shot: /]],
] as const) {
  t.test(`a Screenshot whose charge ends with ${outcome} gets no runner, which takes the next one`, async (t) => {
    const stage = await startCaptures(t, async ({ metadata }) => (metadata.name === 'shot' ? outcome : 'charged'))
    const { status } = await stage.add({ name: 'shot' })
    t.match([status, stage.events], [expected, event])
    t.equal((await stage.add({ name: 'next', spec: { accountName: 'red' } })).status?.phase, 'Running')
  })
}

t.test('after an error, an account is charged again only after a pause, while others are charged, and never twice', async (t) => {
  const asked: string[] = []
  const stage = await startCaptures(t, async ({ metadata: { name } }) => {
    asked.push(`${name} ${stage.clock.second}`)
    if (asked.length <= 2) throw new Error('the account could not be charged in time')
    return 'charged'
  })
  await stage.add({ name: 'a' })
  await stage.passTo(0.999)
  t.strictSame(asked, ['a 0'])
  await stage.passTo(2.9)
  t.strictSame(asked, ['a 0', 'a 1'])
  await stage.passTo(3.5)
  t.strictSame(asked, ['a 0', 'a 1', 'a 3'])
  t.match(stage.get('a')?.status, { phase: 'Running' })
  await stage.add({ name: 'paid', spec: { accountName: 'red', reservation: 'res_1' } })
  t.equal(asked.length, 3)
})

const compared = derivedId('scr', NOON, 'earlier')
const ignored = [{ selector: 'p', boxes: [{ x: 1, y: 2, width: 3, height: 4 }] }]
const picture = completedStatus({ result: { format: 'webp', etag: 'e', ignored } })
type Given = NonNullable<Parameters<typeof aScreenshot>[0]>
const earlier = (more: Given = {}): Given => ({
  name: toObjectName(compared),
  status: picture,
  ...more,
  spec: { accountName: 'red', options: { format: 'webp' }, ...more.spec },
})
const expected = { url: `memory:/users/red/${compared}.webp`, headers: { 'if-match': '"e"' }, ignored }
const archive = ({ bucket }: CaptureStage, ...more: [key: string, text: string][]) => {
  for (const [key, text] of [[recordKey('red', compared), toArchivedLine(aScreenshot(earlier()))] as const, ...more])
    bucket.objects.set(key, text)
}
const baselines: [what: string, set: (stage: CaptureStage) => unknown, expected: object | RegExp][] = [
  ['that is live', (stage) => stage.add(earlier()), expected],
  ['whose name a person chose', (stage) => stage.add(earlier({ name: 'home', metadata: { uid: 'earlier' } })), expected],
  ['that is archived', (stage) => archive(stage), expected],
  ['that is archived and was deleted', (stage) => archive(stage, [tombstoneKey('red', compared), '']), /does not exist in this account$/],
  ['that is broken', (stage) => archive(stage, [recordKey('red', compared), 'broken']), /does not exist/],
  ['that does not exist', () => {}, /^compare_to: scr_\w+ does not exist in this account$/],
  ['of another account', (stage) => stage.add(earlier({ spec: { accountName: 'blue' } })), /does not exist/],
  ['that is being deleted', (stage) => stage.add(earlier({ metadata: deleted })), /does not exist/],
  ['that waits', (stage) => stage.add(earlier({ spec: { poolName: 'none' }, status: { phase: 'Pending' } })), /has not completed yet/],
  ['that failed', (stage) => stage.add(earlier({ status: failedStatus() })), /failed/],
  [
    'that shows something else',
    (stage) => stage.add(earlier({ status: completedStatus({ result: { unfit: 'bot_challenge' } }) })),
    /bot challenge/,
  ],
]
for (const [what, set, result] of baselines) {
  t.test(`a capture is compared with a Screenshot ${what}, or fails`, async (t) => {
    const stage = await startCaptures(t)
    await set(stage)
    const { status } = await stage.add({ name: 'later', spec: { accountName: 'red', options: { compareTo: compared } } })
    if (result instanceof RegExp) t.match(status, { phase: 'Failed', result: { error: { code: 'BASELINE_NOT_FOUND', message: result } } })
    else t.match([status?.phase, stage.orders[0]?.baseline], ['Running', result])
  })
}

t.test('a run of a schedule is compared with the copy that the schedule keeps, only in the folder of the account', async (t) => {
  const stage = await startCaptures(t)
  const run = (key: string) =>
    stage.add({ name: key.slice(0, 5), spec: { accountName: 'red', baseline: { key, etag: 'kept' }, options: { compareTo: compared } } })
  t.match((await run(`users/blue/${compared}.png`)).status?.result?.error, { message: /another account/ })
  await run('baselines/red/uid-1/1.png')
  t.match(stage.orders[0]?.baseline, { url: 'memory:/baselines/red/uid-1/1.png', headers: { 'if-match': '"kept"' } })
})

const id = screenshotIdOf(aScreenshot().metadata)
const file = objectKey('default', id, 'png')
const mark = tombstoneKey('default', id)
const record = recordKey('default', id)

t.test(
  'the capture of a deleted Screenshot is canceled, and its files are removed now and when no upload is possible any more',
  async (t) => {
    const stage = await startCaptures(t)
    const { metadata } = await stage.add()
    stage.bucket.objects.set(file, '')
    await stage.remove(metadata.name)
    t.strictSame(stage.cancelled, [`${metadata.uid} at 10.0.0.1`])
    t.strictSame(stage.bucket.keys(), [mark])
    stage.bucket.objects.set(file, 'late')
    const expiry = ((stage.orders[0]?.deadline ?? 0) - NOON.getTime()) / 1_000 + 60
    await stage.passTo(expiry + 4.9)
    t.strictSame(stage.bucket.keys('users/'), [file])
    await stage.passTo(expiry + 5)
    t.strictSame(stage.bucket.keys('users/'), [])
    stage.bucket.objects.set(file, 'later')
    await stage.passTo(expiry + 1_000)
    t.strictSame(stage.bucket.keys('users/'), [file])
  },
)

const ended: [what: string, before: Record<string, string>, status: Screenshot['status'], after: readonly string[]][] = [
  ['that has finished are removed, with a mark', { [file]: '' }, completedStatus(), [mark]],
  ['that never started are not looked for, only marked', { [file]: '' }, undefined, [mark, file]],
  ['that is archived stay', { [file]: '', [record]: '' }, completedStatus(), [record, file]],
  [
    'that was deleted while it was archived are removed, and its record',
    { [file]: '', [record]: '', [mark]: signed(mark) },
    ...([completedStatus(), [mark, rewriteKey('default', dayOf(id), id)]] as const),
  ],
  ...['', 'forged', signed(tombstoneKey('other', id))].map((text): (typeof ended)[0] => [
    'that is archived with a mark of others stay',
    { [file]: '', [record]: '', [mark]: text },
    completedStatus(),
    [record, mark, file],
  ]),
  ['that was restored stay', { [file]: '' }, completedStatus({ restoredFrom: newId('scr', NOON), attempt: 0 }), [file]],
]
for (const [what, before, status, after] of ended) {
  t.test(`the files of a deleted Screenshot ${what}`, async (t) => {
    const stage = await startCaptures(t)
    stage.runner.accept = () => ({ outcome: 'silent' })
    const busy = await stage.add({ name: 'busy', spec: { accountName: 'red' } })
    const { metadata } = await stage.add(status ? { status } : {})
    for (const [key, text] of Object.entries(before)) stage.bucket.objects.set(key, text)
    await stage.remove(metadata.name)
    await stage.passTo(2)
    t.strictSame(stage.bucket.keys(), [...after].sort())
    t.strictSame([stage.cancelled, busy.status?.phase], [[], 'Running'])
  })
}

t.test('the files of a deleted Screenshot are removed when the store is available again', async (t) => {
  const stage = await startCaptures(t)
  const { metadata } = await stage.add({ status: completedStatus() })
  stage.bucket.objects.set(file, '')
  const end = stage.bucket.goAway('remove')
  await stage.remove(metadata.name)
  t.strictSame(stage.bucket.keys('users/'), [file])
  end()
  await stage.passTo(1)
  t.strictSame(stage.bucket.keys('users/'), [])
})

t.test('an attempt that its runner has lost is repeated, and counts', async (t) => {
  const stage = await startCaptures(t)
  const { metadata } = await stage.add()
  stage.runner.report = () => ({ response: 'absent', givenUp: { uid: metadata.uid, attempt: 1, code: 'STORAGE_FAILED', message: 'why' } })
  stage.bucket.objects.set(file, 'of the first attempt')
  await stage.passTo(11)
  t.match(stage.get(metadata.name)?.status, { phase: 'Running', attempt: 2, startTime: at(10).toISOString() })
  t.strictSame([stage.orders.map(({ attempt }) => attempt), stage.bucket.keys()], [[1, 2], []])
  t.match(stage.events, [/^Warning AttemptFailed .*STORAGE_FAILED: why$/])
})

t.test('ChargeBackoff waits longer after each failure, up to a minute', async (t) => {
  const chargeBackoff = new ChargeBackoff()
  const waits = Array.from({ length: 9 }, () => {
    chargeBackoff.onFailed('acme', 0)
    return chargeBackoff.waitOf('acme', 0)
  })
  t.strictSame(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

t.test('ChargeBackoff allows one trial at a time, until a charge succeeds', async (t) => {
  const chargeBackoff = new ChargeBackoff()
  chargeBackoff.onFailed('acme', 0)
  t.notOk(chargeBackoff.mayTry('acme', 999))
  t.ok(chargeBackoff.mayTry('acme', 1_000))
  t.notOk(chargeBackoff.mayTry('acme', 1_001))
  t.ok(chargeBackoff.mayTry('acme', 1_001 + chargeBackoff.waitOf('acme', 1_001)), 'a trial without a result does not block later ones')
  chargeBackoff.onSucceeded('acme')
  t.ok(chargeBackoff.mayTry('acme', 1_002))
  t.ok(chargeBackoff.mayTry('acme', 1_002))
})
