import fc from 'fast-check'
import t from 'tap'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { type AccountUsageSpec, type AccountUsageStatus, StoredUsageStatus } from '../../../../crds/src/kinds/account.ts'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { readStoredStatus, toStoredStatus } from '../../../../crds/src/usage/stored-usage.ts'
import { lastUsedAt, monthOf, startOfNextMonth, toUsageFacts, UsageDraft, unitsOf, type Wanted } from '../../../../crds/src/usage/usage.ts'

t.test('a screenshot costs one unit, and a video one for each 10 seconds', async (t) => {
  t.equal(unitsOf({}), 1)
  t.equal(unitsOf({ options: { format: 'pdf', fullPage: true } }), 1)
  t.equal(unitsOf({ options: { format: 'mp4' } }), 1)
  const cost = [1, 10, 11, 20, 21, 119, 120].map((videoDuration) => unitsOf({ options: { format: 'webm', videoDuration } }))
  t.strictSame(cost, [1, 1, 2, 2, 3, 12, 12])
})

const NOW = new Date('2026-11-21T10:20:30.456Z')
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds)

const wanted = (id: string, names: readonly string[], rest: Partial<Wanted> = {}): Wanted => {
  return { id, names, gateway: 'a', at: NOW, countsForRate: true, ...rest }
}

/** A draft of the last written status. */
const draftOf = (spec: AccountUsageSpec, status?: AccountUsageStatus, now = NOW) =>
  new UsageDraft(status ? { spec, status } : { spec }, now)

t.test('usage has nothing used in a month that the object has not seen, and no end of requests without a rate limit', async (t) => {
  const spec = { limit: 5 }
  t.match(toUsageFacts({ spec }, NOW), { used: 0, rateRemaining: Number.POSITIVE_INFINITY, rateResetSeconds: 0 })
  t.match(toUsageFacts({ spec, status: { period: '2026-11', used: 3 } }, NOW), { used: 3 })
  const usage = { spec: { limit: 7, ratePerMinute: 2 }, status: { period: '2026-10', used: 7 } }
  const quota = { period: '2026-11', used: 0, limit: 7, resetAt: new Date('2026-12-01T00:00:00.000Z') }
  t.strictSame(toUsageFacts(usage, NOW), { at: NOW, ...quota, ratePerMinute: 2, rateRemaining: 2, rateResetSeconds: 0 })
})

t.test('usage charges as many names as the quota allows, and returns why not all', async (t) => {
  const draft = draftOf({ limit: 5 }, { period: '2026-11', used: 3 })
  t.strictSame(draft.reserve(wanted('r', ['x', 'y', 'z'])), { granted: 2, refusal: 'quota' })
  t.match(draft.toStatus(), { used: 5, reservations: [{ id: 'r', names: ['x', 'y'], gateway: 'a' }] })
  t.strictSame(draft.reserve(wanted('s', ['w'])), { granted: 0, refusal: 'quota' })
})

t.test('usage counts a batch as one request of the rate and as one unit per name', async (t) => {
  const draft = draftOf({ limit: 100, ratePerMinute: 2 })
  t.strictSame(draft.reserve(wanted('r', ['a', 'b', 'c'])), { granted: 3 })
  t.match(draft.toStatus(), { used: 3, window: [{ count: 1 }] })
  t.strictSame(draft.reserve(wanted('s', ['d'])), { granted: 1 })
  t.strictSame(draft.reserve(wanted('u', ['e'])), { granted: 0, refusal: 'rate' })
  t.equal(draft.used, 4, 'a refusal by rate costs no quota')
})

t.test('usage does not charge a known reservation again', async (t) => {
  const draft = draftOf({ limit: 2 })
  draft.reserve(wanted('r', ['a', 'b', 'c']))
  t.strictSame(draft.reserve(wanted('r', ['a', 'b', 'c'])), { granted: 2, refusal: 'quota' })
  t.strictSame(draft.reserve(wanted('r', ['b', 'c'])), { granted: 1, refusal: 'quota' }, 'one exists by now')
  t.strictSame(draft.reserve(wanted('r', ['b'])), { granted: 1 })
  t.equal(draft.used, 2)
})

t.test('usage lets another gateway take over one reservation, which neither can release any more', async (t) => {
  const draft = draftOf({ limit: 9 })
  for (const id of ['r', 's']) draft.reserve(wanted(id, [id]))
  t.strictSame(draft.reserve(wanted('r', ['r'], { gateway: 'b' })), { granted: 1 })
  for (const gateway of ['a', 'b']) draft.release('r', ['r'], gateway)
  draft.settle({ id: 'r', names: ['r'], gateway: 'a', at: NOW.toISOString() }, ['r'])
  const [taken, other] = draft.toStatus().reservations ?? []
  t.match([draft.used, taken, other], [2, { id: 'r', gateway: 'b' }, { id: 's', gateway: 'a' }])
})

t.test('usage does not settle a reservation that a retry has used since', async (t) => {
  const first = draftOf({ limit: 9 })
  first.reserve(wanted('r', ['x']))
  const seen = first.toStatus().reservations?.[0]
  const draft = draftOf({ limit: 9 }, first.toStatus(), later(600_000))
  t.strictSame(draft.reserve(wanted('r', ['x'])), { granted: 1 })
  draft.settle(seen!, ['x'])
  t.match(draft.toStatus(), { used: 1, reservations: [{ id: 'r', at: NOW.toISOString(), lastRetryAt: later(600_000).toISOString() }] })
  draft.settle(draft.toStatus().reservations![0]!, ['x'])
  t.equal(draft.used, 0)
})

t.test('usage writes each retry, so that a release that was sent before fails', async (t) => {
  const first = draftOf({ limit: 9 })
  first.reserve(wanted('r', ['x']))
  const draft = draftOf({ limit: 9 }, first.toStatus(), later(1))
  const { changes } = draft
  draft.reserve(wanted('r', ['x']))
  t.equal(draft.changes, changes + 1)
  t.strictSame(
    [first, draft].map((one) => lastUsedAt(one.toStatus().reservations![0]!)),
    [NOW, later(1)],
  )
})

t.test('usage releases names once', async (t) => {
  const draft = draftOf({ limit: 9 })
  draft.reserve(wanted('r', ['x', 'y']))
  for (let n = 0; n < 3; n++) draft.release('r', ['y', 'other'], 'a')
  t.match(draft.toStatus(), { used: 1, reservations: [{ names: ['x'] }] })
  draft.drop('r')
  draft.release('r', ['x'], 'a')
  t.match(draft.toStatus(), { used: 1, reservations: [] }, 'what is settled stays spent')
})

t.test('usage refunds an id once, in its month only', async (t) => {
  const draft = draftOf({ limit: 9 }, { period: '2026-11', used: 4 })
  const id = newId('scr', NOW)
  t.ok(draft.refund(id))
  t.ok(draft.refund(id), 'it is done, whoever asks again')
  t.equal(draft.used, 3)
  t.notOk(draft.refund(newId('scr', new Date('2026-10-31T23:59:59.999Z'))))
  t.equal(draft.used, 3)
  draft.forgetRefunds([id])
  t.notOk(draft.hasRefunded(id))
})

t.test('usage starts a new month in the same update, and never returns to an earlier one', async (t) => {
  const old = newId('scr', NOW)
  const reservations = [{ id: 'q', names: ['q'], gateway: 'a', at: NOW.toISOString() }]
  const draft = draftOf({ limit: 9 }, { period: '2026-11', used: 9, reservations, refunds: [old] }, new Date('2026-12-01T00:00:00.000Z'))
  t.strictSame(draft.reserve(wanted('n', ['n'])), { granted: 0, refusal: 'quota' }, 'accepted in the old month: it is full')
  t.strictSame(draft.reserve(wanted('r', ['x'], { at: new Date('2026-12-01T00:00:00.000Z') })), { granted: 1 })
  t.equal(draft.period, '2026-12')
  t.equal(draft.used, 1)
  draft.release('q', ['q'], 'a')
  t.equal(draft.used, 1, 'what goes back belongs to the old month')
  t.ok(draft.hasRefunded(old), 'an old refund is not forgotten: its condition may be missing still')
  draft.reserve(wanted('s', ['y']))
  t.equal(draft.period, '2026-12', 'a late request of the old month is charged to the new one')
  t.equal(draft.used, 2)
})

t.test('usage refuses more reservations than fit in the object', async (t) => {
  const names = Array.from({ length: 100 }, (_, index) => `n${index}`)
  const draft = draftOf({ limit: 1_000_000 })
  for (let n = 0; n < 50; n++) draft.reserve(wanted(`r${n}`, names))
  t.strictSame(draft.reserve(wanted('more', names)), { granted: 0, refusal: 'full' })
  t.equal(draft.used, 5_000)
})

t.test('usage months are in UTC, also at the end of a year', async (t) => {
  const end = new Date('2026-12-31T23:59:59.999Z')
  t.strictSame([monthOf(end), startOfNextMonth(end).toISOString()], ['2026-12', '2027-01-01T00:00:00.000Z'])
})

type Step =
  | { do: 'reserve'; id: number; count: number; gateway: string }
  | { do: 'create' | 'drop' | 'release' | 'settle' | 'refund'; id: number; gateway: string }
  | { do: 'wait'; milliseconds: number }

const ids = fc.integer({ min: 0, max: 6 })
const gateways = fc.constantFrom('a', 'b')
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('reserve' as const), id: ids, count: fc.integer({ min: 1, max: 4 }), gateway: gateways }),
    fc.record({ do: fc.constantFrom(...(['create', 'drop', 'release', 'settle', 'refund'] as const)), id: ids, gateway: gateways }),
    fc.record({ do: fc.constant('wait' as const), milliseconds: fc.integer({ min: 0, max: 40 * 86_400_000 }) }),
  ),
  { maxLength: 60 },
)

/** Simulates gateways and operator, which release only names that were never created. */
class Model {
  readonly limit: number
  status: AccountUsageStatus | undefined
  now = NOW
  /** By reservation: the charged names, the gateway, the created names, and whether a retry has used it. */
  readonly held = new Map<number, { names: string[]; holder: string; created: Set<string>; isRetried: boolean }>()
  readonly created: string[] = []

  constructor(limit: number) {
    this.limit = limit
  }

  do(step: Step): void {
    if (step.do === 'wait') {
      this.now = new Date(this.now.getTime() + step.milliseconds)
      return
    }
    const draft = new UsageDraft({ spec: { limit: this.limit }, ...(this.status ? { status: this.status } : {}) }, this.now)
    this.#change(draft, step)
    this.status = draft.toStatus()
  }

  #change(draft: UsageDraft, step: Exclude<Step, { do: 'wait' }>): void {
    const key = `r${step.id}`
    const held = this.held.get(step.id)
    if (step.do === 'reserve') this.#reserve(draft, key, step)
    if (!held || step.do === 'reserve') return
    const rest = held.names.filter((name) => !held.created.has(name))
    if (step.do === 'create') {
      for (const name of rest) {
        held.created.add(name)
        this.created.push(name)
      }
    } else if (step.do === 'drop' && rest.length === 0) {
      draft.drop(key)
      this.held.delete(step.id)
    } else if (step.do === 'release') {
      draft.release(key, rest, step.gateway)
      if (step.gateway !== held.holder || held.isRetried) return
      held.names = held.names.filter((name) => held.created.has(name))
      if (held.names.length === 0) this.held.delete(step.id)
    } else if (step.do === 'settle' && step.gateway === held.holder) {
      const seen = this.status?.reservations?.find(({ id }) => id === key)
      if (seen) draft.settle(seen, rest)
      this.held.delete(step.id)
    }
  }

  #reserve(draft: UsageDraft, key: string, { id, count, gateway }: Extract<Step, { do: 'reserve' }>): void {
    const known = this.held.get(id)
    const names =
      known?.names ?? Array.from({ length: count }, (_, index) => `${key}-${this.now.getTime()}-${this.created.length}-${index}`)
    const { granted } = draft.reserve({ id: key, names, gateway, at: this.now, countsForRate: true })
    if (granted === 0) return
    this.held.set(id, {
      names: names.slice(0, granted),
      holder: gateway,
      created: known?.created ?? new Set(),
      isRetried: known !== undefined,
    })
  }
}

t.test('usage never exceeds its limit and stays valid, for random operations in any order', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 12 }), steps, (limit, sequence) => {
      const model = new Model(limit)
      for (const step of sequence) {
        const before = model.status?.used ?? 0
        model.do(step)
        const { status } = model
        if (!status) continue
        if (!StoredUsageStatus.safeParse(toStoredStatus(status)).success) return false
        if (status.used > limit && status.used > before) return false
      }
      return true
    }),
    { numRuns: 1_000 },
  )
})

t.test('usage equals the number of created objects after all other names are released', async () => {
  const withinMonth = steps.map((sequence) => sequence.filter((step) => step.do !== 'wait' && step.do !== 'refund'))
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 12 }), withinMonth, (limit, sequence) => {
      const model = new Model(limit)
      for (const step of sequence) model.do(step)
      for (const [id, { holder }] of [...model.held]) model.do({ do: 'settle', id, gateway: holder })
      const { used = 0, reservations = [] } = model.status ?? {}
      return used === model.created.length && reservations.length === 0 && used <= limit
    }),
    { numRuns: 1_000 },
  )
})

t.test('usage forgets requests after 60 seconds', async (t) => {
  const draft = draftOf({ limit: 9, ratePerMinute: 1 })
  draft.reserve(wanted('r', ['x']))
  const next = draftOf({ limit: 9, ratePerMinute: 1 }, draft.toStatus(), later(61_000))
  t.strictSame(next.reserve(wanted('s', ['y'])), { granted: 1 })
  t.equal(next.toStatus().window?.length, 1)
})

t.test('usage charges a request that costs more than is left not at all', async (t) => {
  const draft = draftOf({ limit: 10 }, { period: '2026-11', used: 8 })
  t.strictSame(draft.reserve(wanted('r', ['x'], { units: 3 })), { granted: 0, refusal: 'quota' })
  t.strictSame(draft.reserve(wanted('s', ['y', 'z'], { units: 2 })), { granted: 1, refusal: 'quota' })
  t.match(draft.toStatus(), { used: 10, reservations: [{ id: 's', names: ['y'], units: 2 }] })
})

const FATES = ['keep', 'release', 'settle', 'refund', 'recharge'] as const
const charged = fc.array(fc.record({ seconds: fc.integer({ min: 0, max: 120 }), fate: fc.constantFrom(...FATES) }), { maxLength: 30 })

t.test('usage equals the units of the captures that were neither released nor refunded, in any order', async () => {
  fc.assert(
    fc.property(charged, fc.integer({ min: 0, max: 2 ** 31 }), (captures, seed) => {
      const spec = { limit: 100_000 }
      let status: AccountUsageStatus = { period: '2026-11', used: 0 }
      const change = (apply: (draft: UsageDraft) => void): void => {
        const draft = draftOf(spec, status)
        apply(draft)
        status = readStoredStatus(toStoredStatus(draft.toStatus()))
      }
      const known = captures.map(({ seconds, fate }, index) => {
        const id = newId('scr', NOW, Buffer.alloc(10, index))
        const options: CaptureOptions = seconds === 0 ? {} : { format: 'mp4', videoDuration: seconds }
        return { id, name: id.replace('_', '-'), units: unitsOf({ options }), fate }
      })
      for (const { id, name, units } of known) change((draft) => draft.reserve(wanted(id, [name], { units })))
      const shuffled = known.toSorted((a, b) => ((a.id.charCodeAt(29) * seed) % 97) - ((b.id.charCodeAt(29) * seed) % 97))
      for (const { id, name, units, fate } of shuffled) {
        const seen = status.reservations?.find((reservation) => reservation.id === id)
        if (fate === 'release') change((draft) => draft.release(id, [name], 'a'))
        if (fate === 'settle' && seen) change((draft) => draft.settle(seen, [name]))
        if (fate === 'keep') change((draft) => draft.drop(id))
        if (fate === 'recharge') change((draft) => draft.reserve(wanted(id, [name], { units, gateway: 'b' })))
        if (fate === 'refund') for (let n = 0; n < 2; n++) change((draft) => draft.refund(id, units))
      }
      const left = known.filter(({ fate }) => fate === 'keep' || fate === 'recharge')
      const byDay = Object.values(status.days ?? {}).reduce((sum, units) => sum + units, 0)
      return status.used === left.reduce((sum, { units }) => sum + units, 0) && byDay === status.used
    }),
    { numRuns: 300 },
  )
})
