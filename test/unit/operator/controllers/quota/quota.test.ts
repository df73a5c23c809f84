import t, { type Test } from 'tap'
import { accounts, accountUsages, type Lease, leases, screenshots } from '../../../../../crds/client/kinds.ts'
import { mergePatch } from '../../../../../crds/client/resource.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { GATEWAY_LEASE_LABELS, toId, toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { AccountSpec, AccountUsage, AccountUsageStatus } from '../../../../../crds/src/kinds/account.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { recordKey, segmentsPrefix, tombstoneKey } from '../../../../../crds/src/records/storage-keys.ts'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'
import { createQuotaController } from '../../../../../operator/src/controllers/quota/controller.ts'
import { listPastUnits } from '../../../../../operator/src/controllers/quota/ensure-usage.ts'
import { anAccount, aScreenshot, at, buildSegments, failedStatus } from '../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../support/fakes/memory-bucket.ts'
import { startOperator } from '../../../../support/fakes/operator-stage.ts'
import { stopClock } from '../../../../support/fakes/stop-clock.ts'
import { collectIgnored } from '../../../../support/sources/mark-checks.ts'

const SCAN_MILLISECONDS = 5_000
const NAME = toObjectName(newId('scr', at(0)))
const held = { id: 'res_1', names: [NAME], gateway: 'g', at: at(0).toISOString() }

/** The quota part of a leader, with an account that may take ten screenshots a month. */
async function start(t: Test, status?: Partial<AccountUsageStatus>, spec: Partial<AccountSpec> = {}) {
  const timers = stopClock(t, 'setInterval')
  const stage = await startOperator(t, { plans: { ...DEFAULT_PLANS, free: { ...DEFAULT_PLANS.free, monthlyQuota: 10 } } })
  const { cluster, settle, passTo } = stage
  const quota = createQuotaController(stage.deps)
  cluster.put(accounts, anAccount({ name: 'acme', spec }))
  if (status) {
    const usage = { metadata: { name: 'acme' }, spec: { limit: 10, ratePerMinute: 2 }, status: { period: '2026-11', used: 5, ...status } }
    cluster.put(accountUsages, usage as AccountUsage)
  }
  await settle()
  const leader = stage.lead(quota.start)
  await settle()
  return {
    ...{ ...stage, leader, charge: quota.charge },
    usage: () => cluster.get(accountUsages, 'acme')?.status,
    shot: (name: string, given: Parameters<typeof aScreenshot>[0] = {}) =>
      aScreenshot({ ...given, name, spec: { accountName: 'acme', ...given.spec } }),
    /** Lets a gateway renew its Lease of 30 seconds. */
    async renew(name = 'g') {
      const lease = { metadata: { name, labels: GATEWAY_LEASE_LABELS }, spec: { leaseDurationSeconds: 30 } } as Lease
      cluster.put(leases, lease)
      await settle()
    },
    /** Lets time pass, and looks for reservations of gateways that have ended. */
    async scanAt(second: number) {
      await passTo(second)
      timers.tick(SCAN_MILLISECONDS)
      await settle()
      return cluster.get(accountUsages, 'acme')?.status?.reservations?.map(({ id }) => id) ?? []
    },
  }
}

t.test('each account gets a usage object with the limits of its plan, which it owns', async (t) => {
  const { cluster, settle } = await start(t)
  const uid = cluster.get(accounts, 'acme')?.metadata.uid
  t.match(cluster.get(accountUsages, 'acme'), {
    metadata: { ownerReferences: [{ kind: 'Account', name: 'acme', uid, controller: true }] },
    ...{ spec: { limit: 10, ratePerMinute: 2 }, status: { period: '2026-11', used: 0 } },
  })
  await cluster.client(accounts).patch('acme', mergePatch({ spec: { plan: 'basic' } }))
  await settle()
  t.match(cluster.get(accountUsages, 'acme')?.spec, { limit: 2_000, ratePerMinute: 40 })
  await cluster.client(accountUsages).patch('acme', mergePatch({ spec: { limit: 9_999 } }))
  await settle()
  t.equal(cluster.get(accountUsages, 'acme')?.spec.limit, 2_000, 'other changes are reverted')
  cluster.put(accounts, anAccount({ name: 'with.dots' }))
  await settle()
  t.equal(cluster.get(accountUsages, 'with.dots'), undefined)
})

t.test('lost usage is counted again from the screenshots of the month, with an Event', async (t) => {
  const stage = await startOperator(t)
  const paid = { accountName: 'acme', reservation: 'res_1' }
  stage.cluster.put<Screenshot>(screenshots, aScreenshot({ spec: paid, status: { phase: 'Completed' } }))
  stage.bucket.objects.set(tombstoneKey('acme', newId('scr', at(0))), '')
  stage.cluster.put(accounts, anAccount({ name: 'acme' }))
  await stage.settle()
  stage.lead(createQuotaController(stage.deps).start)
  await stage.settle()
  t.match(stage.cluster.get(accountUsages, 'acme')?.status, { used: 2, days: { '2026-11-21': 2 } })
  t.match(stage.events, [/^Warning UsageRecounted acme: .* 2 units\.$/])
  stage.cluster.remove(accountUsages, 'acme')
  await stage.settle()
  t.match([stage.cluster.get(accountUsages, 'acme')?.status, stage.events.length], [{ used: 2 }, 2], 'also when a person deletes it')
})

t.test('a Screenshot is charged once, however often it is requested, and never above the limit', async (t) => {
  const { charge, shot, usage, metric } = await start(t, { used: 8 })
  const [a, b, c] = ['a', 'b', 'c'].map((name) => shot(name))
  t.strictSame(await Promise.all([charge(a!), charge(a!), charge(b!), charge(c!)]), ['charged', 'charged', 'charged', 'quota'])
  t.equal(await charge(a!), 'charged')
  t.match(usage(), { used: 10, reservations: [{ names: ['a'], gateway: 'operator' }] })
  t.strictSame(await metric('quota_charges_total'), { 'outcome=charged': 4, 'outcome=quota': 1 })
})

t.test('a Screenshot of a suspended account, or of one that does not exist, is not charged', async (t) => {
  const { charge, shot, usage } = await start(t, {}, { suspended: true })
  t.equal(await charge(shot('a')), 'suspended')
  t.equal(await charge(aScreenshot({ spec: { accountName: 'nobody' } })), 'missing')
  t.equal(usage()?.used, 5)
})

t.test('a charge is repeated after a conflict with a gateway, and not charged twice after a lost response', async (t) => {
  const { charge, shot, usage, cluster, passTo } = await start(t, {})
  const faults = [
    () => void cluster.put(accountUsages, { ...cluster.get(accountUsages, 'acme')!, status: { period: '2026-11', used: 7 } }),
    () => 'lost' as const,
  ]
  cluster.fault = ({ verb, resource }) =>
    verb === 'update' && resource === 'accountusages' ? (faults.shift()?.() ?? undefined) : undefined
  const charged = charge(shot('a'))
  await passTo(10)
  t.equal(await charged, 'charged')
  t.strictSame([usage()?.used, faults.length], [8, 0])
})

t.test('charges that are not made at the end of the term are rejected, so that the next leader makes them', async (t) => {
  const { charge, shot, cluster, leader, settle } = await start(t, {})
  cluster.fault = ({ resource }) => (resource === 'accountusages' ? 'refused' : undefined)
  const charged = charge(shot('a'))
  await settle()
  await Promise.all([t.rejects(charged, { name: 'RetryableError' }), leader.end()])
})

t.test('the units of a failed capture are refunded once, with a condition', async (t) => {
  const { shot, usage, cluster, settle, passTo, metric } = await start(t, {})
  const spec = { reservation: 'res_1', options: { format: 'mp4' as const, videoDuration: 25 } }
  cluster.fault = ({ verb, resource }) => (verb === 'patch' && resource === 'screenshots' ? 'refused' : undefined)
  cluster.put<Screenshot>(screenshots, shot(NAME, { spec, status: failedStatus() }))
  cluster.put<Screenshot>(screenshots, shot('unpaid', { status: failedStatus({ attempt: 0 }) }))
  const lastMonth = toObjectName(newId('scr', new Date('2026-10-31T23:00:00Z')))
  cluster.put<Screenshot>(screenshots, shot(lastMonth, { spec, status: failedStatus() }))
  await settle()
  t.match(usage(), { used: 2, refunds: [toId(NAME)] })
  cluster.fault = () => undefined
  await passTo(10)
  t.match(cluster.get<Screenshot>(screenshots, NAME)?.status?.conditions, [{ type: 'Refunded', status: 'True', reason: 'CaptureFailed' }])
  t.equal(usage()?.used, 2)
  t.strictSame(await metric('quota_refunds_total'), { '': 3 })
})

t.test('the units of a name that no gateway has created are returned when the gateway has ended', async (t) => {
  const { scanAt, usage, metric } = await start(t, { reservations: [{ ...held, names: [NAME, 'odd'], units: 2 }] })
  t.strictSame(await scanAt(89), ['res_1'], 'a create may still succeed')
  t.strictSame(await scanAt(90), [])
  t.equal(usage()?.used, 3, 'no gateway creates odd names')
  t.match([await metric('quota_settled_total'), await metric('quota_settled_units_total')], [{ '': 1 }, { '': 2 }])
})

const traces: [what: string, leave: (stage: Awaited<ReturnType<typeof start>>) => unknown][] = [
  ['is in the cache', ({ cluster, shot }) => cluster.put<Screenshot>(screenshots, shot(NAME))],
  [
    'was there recently',
    async ({ cluster, shot, settle }) => {
      cluster.put<Screenshot>(screenshots, shot(NAME))
      await settle()
      cluster.remove(screenshots, NAME)
    },
  ],
  [
    'is at the API server',
    async ({ cluster, shot, reflectors }) => {
      await reflectors.screenshots.stop()
      cluster.put<Screenshot>(screenshots, shot(NAME))
    },
  ],
  ['was deleted over REST', ({ bucket }) => bucket.objects.set(tombstoneKey('acme', toId(NAME)), '')],
  ['is archived', ({ bucket }) => bucket.objects.set(recordKey('acme', toId(NAME)), '')],
]
for (const [what, leave] of traces) {
  t.test(`a unit stays charged for a name that ${what}`, async (t) => {
    const stage = await start(t, { reservations: [held] })
    await leave(stage)
    t.strictSame([await stage.scanAt(90), stage.usage()?.used], [[], 5])
  })
}

t.test('nothing is settled while the bucket is unavailable', async (t) => {
  const { scanAt, bucket } = await start(t, { reservations: [held] })
  bucket.goAway('exists')
  t.strictSame(await scanAt(90), ['res_1'])
})

t.test('a gateway is alive while it renews its Lease, and has given up a reservation after ten minutes', async (t) => {
  const late = { ...held, id: 'res_2', at: at(11).toISOString() }
  const { scanAt, renew } = await start(t, { reservations: [{ ...held, at: at(10).toISOString() }, late] })
  for (let second = 0; second < 610; second += 30) {
    await renew()
    t.strictSame(await scanAt(Math.min(second + 29, 609)), ['res_1', 'res_2'])
  }
  await renew()
  t.strictSame(await scanAt(610), ['res_2'])
})

t.test('a gateway has ended a minute after its Lease has expired, which the API server confirms', async (t) => {
  const { scanAt, renew, cluster, reflectors } = await start(t, { reservations: [held, { ...held, id: 'res_2', gateway: 'deaf' }] })
  await renew()
  await renew('deaf')
  t.strictSame(await scanAt(90), ['res_1', 'res_2'])
  await reflectors.gatewayLeases.stop()
  await renew('deaf')
  t.strictSame(await scanAt(91), ['res_2'], 'the cache of this leader is stale')
  t.strictSame(await scanAt(181), ['res_2'])
  t.strictSame(await scanAt(182), [])
  t.ok(cluster.get(leases, 'g'))
})

t.test('the Lease of a gateway that has ended is deleted ten minutes after it expired', async (t) => {
  const { scanAt, renew, cluster } = await start(t, {})
  await renew()
  await scanAt(630)
  t.ok(cluster.get(leases, 'g'))
  await scanAt(631)
  t.equal(cluster.get(leases, 'g'), undefined)
})

t.test('a gateway that has deleted its Lease has ended, 90 seconds after its reservation', async (t) => {
  const { scanAt, renew, cluster } = await start(t, { reservations: [{ ...held, at: at(60).toISOString() }] })
  await renew()
  cluster.remove(leases, 'g')
  t.strictSame(await scanAt(149), ['res_1'])
  t.strictSame(await scanAt(150), [])
})

const NOW = new Date('2026-11-21T10:20:30.456Z')
const idAt = (time: string) => newId('scr', new Date(time))

const { ignored, report } = collectIgnored()
const listUnits = (account: string, bucket: MemoryBucket) => listPastUnits(account, NOW, { objects: bucket.storage, report })

/** A bucket with these keys that counts its list requests. */
function aBucket(...keys: string[]) {
  const bucket = Object.assign(new MemoryBucket(), { lists: 0 })
  for (const key of keys) bucket.objects.set(key, '')
  bucket.beforeCall = (what) => {
    if (what === 'list') bucket.lists++
  }
  return bucket
}

t.test('listPastUnits returns each archived or deleted id of the month once', async (t) => {
  const [first, last, both] = [idAt('2026-11-01T00:00:00.000Z'), idAt('2026-11-21T10:20:30.000Z'), idAt('2026-11-10T00:00:00Z')]
  const bucket = aBucket(
    recordKey('acme', first),
    tombstoneKey('acme', last),
    recordKey('acme', both),
    tombstoneKey('acme', both),
    recordKey('acme', idAt('2026-10-31T23:59:59.999Z')),
    recordKey('other', idAt('2026-11-10T00:00:00Z')),
    `${segmentsPrefix('acme', '79000')}odd.ndjson`,
  )
  const units = await listUnits('acme', bucket)
  t.strictSame([...units.keys()].sort(), [first, last, both].sort())
  t.ok([...units.values()].every((cost) => cost === 1))
})

t.test('listPastUnits needs one list for a new account', async (t) => {
  const bucket = aBucket()
  t.equal((await listUnits('new', bucket)).size, 0)
  t.equal(bucket.lists, 1)
})

t.test('listPastUnits reads page by page, and not beyond the month', async (t) => {
  const month = Array.from({ length: 1_500 }, (_, n) => recordKey('acme', idAt(new Date(NOW.getTime() - n * 600_000).toISOString())))
  const years = Array.from({ length: 5_000 }, (_, n) =>
    recordKey('acme', idAt(new Date(Date.UTC(2026, 9, 31) - n * 600_000).toISOString())),
  )
  const bucket = aBucket(...month, ...years)
  t.equal((await listUnits('acme', bucket)).size, 1_500)
  t.equal(bucket.lists, 2)
})

t.test('listPastUnits reads the units of videos from the segments, and ignores records that are not in place', async (t) => {
  const record = (format: 'mp4' | 'png', accountName = 'acme') => {
    const id = newId('scr', new Date('2026-11-20T10:00:00Z'))
    const options = { format, ...(format === 'mp4' ? { videoDuration: 35 } : {}) }
    return aScreenshot({ name: toObjectName(id), metadata: { uid: id }, spec: { accountName, options }, status: { phase: 'Completed' } })
  }
  const [video, picture, foreign] = [record('mp4'), record('png'), record('mp4', 'other')]
  const ids = [video, picture, foreign].map(({ metadata }) => metadata.uid)
  const segments = buildSegments('acme', [video, picture, foreign])
  const bucket = aBucket(...ids.map((id) => recordKey('acme', id)), ...segments.map(({ key }) => key))
  for (const { key, text } of segments) bucket.objects.set(key, text)
  t.strictSame(await listUnits('acme', bucket), new Map([...ids].sort().map((id) => [id, id === video.metadata.uid ? 4 : 1])))
  t.match(ignored, [new RegExp(`#${foreign.metadata.uid}$`)])
})
