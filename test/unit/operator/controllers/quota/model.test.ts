import t from 'tap'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { toId, toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { AccountUsage, AccountUsageStatus, Reservation } from '../../../../../crds/src/kinds/account.ts'
import { readStoredStatus, toStoredStatus } from '../../../../../crds/src/usage/stored-usage.ts'
import { lastUsedAt, type Outcome, UsageDraft } from '../../../../../crds/src/usage/usage.ts'
import { type Changes, decide, type Settlement } from '../../../../../operator/src/controllers/quota/decide.ts'
import { at } from '../../../../support/fakes/builders.ts'
import { type Step, walk } from '../../../../support/walk.ts'

// Two gateways and the operator charge one account, in all orders of reads, writes, creates and crashes. Every status is computed by the product;
// the API server and the order of the calls of api-gateway/src/creation/create.ts are a model. Time is absent: a call may be slower than
// everything else. A request with a key is repeated at any gateway while its first call may still run.

type Gateway = 'a' | 'b'

/** A write of the usage that the API server has not answered. */
interface Write {
  plan: string
  version: number
  status: AccountUsageStatus
  outcome?: Outcome
  /** What the gateway has then written. */
  tidied: string[]
}

/** One call of a gateway. A call that has ended is removed. */
interface Call {
  plan: string
  gateway: Gateway
  next: 'look' | 'reserve' | 'build' | 'create' | 'release' | 'wait'
  write?: Write
}

interface State {
  version: number
  status: AccountUsageStatus
  /** By the names of Screenshots. */
  objects: Record<string, 'live'>
  calls: Call[]
  /** Plans whose objects a gateway has seen. Its next write removes their reservations. */
  dropping: Record<Gateway, string[]>
  /** Plans whose reservation a gateway gives back with its next write, because the caller got an error. */
  abandoned: Record<Gateway, string[]>
  /** Plans whose reservation calls of a gateway use. */
  held: Record<Gateway, string[]>
  dead: Gateway[]
  /** Requests that the API server may still carry out. */
  lateCreates: { name: string; plan: string }[]
  lateWrites: Write[]
  settlement?: Settlement
  /** How often ten minutes have passed. A gateway that lives has then given up the reservations from before. */
  periods: number
  /**
   * Units of retries that looked for the object before another call created it, and charged it after that call's reservation was removed. They
   * stay charged: the operator cannot tell which charge the object is from.
   */
  raced: number
  /** A Screenshot that kubectl has created. */
  applied?: 'charged' | 'refused'
  may: { retry: number; other: number; crash: number; hang: number; refuse: number; refund: number; apply: number }
}

/** What the model does without, to show that the walk finds it. */
interface Without {
  /** Writes do not check the version. */
  version?: boolean
  /** A reservation can be given back although a retry has joined it. */
  join?: boolean
  /** The operator does not wait until no create can succeed. */
  patience?: boolean
}

const NOW = at(0)
const PERIOD = 600
const NAMES: Record<string, string> = Object.fromEntries(
  ['first', 'other', 'applied'].map((plan) => [plan, toObjectName(newId('scr', NOW))]),
)
const nameOf = (plan: string): string => NAMES[plan]!
const GATEWAYS: Gateway[] = ['a', 'b']
const LIMIT = 2

const usageOf = ({ status }: Pick<State, 'status'>): Pick<AccountUsage, 'spec' | 'status'> => ({ spec: { limit: LIMIT }, status })
/** As the API server stores it. Days and seconds add nothing here. */
const stored = (status: AccountUsageStatus): AccountUsageStatus => {
  const { days: _, window: _window, ...rest } = readStoredStatus(toStoredStatus(status))
  return rest
}
const hold = ({ held }: State, { plan, gateway }: Call, isHeld: boolean): State['held'] => ({
  ...held,
  [gateway]: [...held[gateway].filter((other) => other !== plan), ...(isHeld ? [plan] : [])],
})
/** Each write has another time. */
const nowOf = ({ periods, version }: Pick<State, 'periods' | 'version'>): Date => at(periods * PERIOD + version / 1_000)
const isOfBefore = ({ periods }: State, reservation: Reservation): boolean => lastUsedAt(reservation) < at(periods * PERIOD)

/** The call of a gateway that may write. The others wait. */
const findWriter = ({ calls }: State, gateway: Gateway): Call | undefined =>
  calls.find((call) => call.gateway === gateway && (call.next === 'reserve' || call.next === 'release'))

/** Calls are in the order in which they came to their next step. */
function replace(state: State, call: Call, after?: Call): State {
  if (after?.next === call.next) return { ...state, calls: state.calls.map((other) => (other === call ? after : other)) }
  return { ...state, calls: [...state.calls.filter((other) => other !== call), ...(after ? [after] : [])] }
}

/** What a gateway writes for a call, if anything, and what it finds. */
function draft(state: State, { plan, gateway, next }: Call, without: Without): Write & { isNeeded: boolean } {
  const usage = usageOf(state)
  const reservations = usage.status?.reservations?.map((held) => (without.join ? { ...held, lastRetryAt: undefined } : held))
  const draft = new UsageDraft({ ...usage, status: { ...state.status, ...(reservations ? { reservations } : {}) } }, nowOf(state))
  for (const id of state.dropping[gateway]) draft.drop(id)
  for (const id of state.abandoned[gateway]) draft.release(id, [nameOf(id)], gateway)
  const tidied = draft.changes
  const outcome =
    next === 'reserve' ? draft.reserve({ id: plan, names: [nameOf(plan)], gateway, at: NOW, countsForRate: false }) : undefined
  if (next === 'release') draft.release(plan, [nameOf(plan)], gateway)
  return {
    ...{ plan, version: state.version, status: stored(draft.toStatus()), isNeeded: draft.changes > tidied },
    ...{ ...(outcome ? { outcome } : {}), tidied: [...state.dropping[gateway], ...state.abandoned[gateway]] },
  }
}

/** The state after the API server has carried out a write; undefined if it refuses it. */
function commit(state: State, { plan, version, status }: Write, without: Without): State | undefined {
  if (version !== state.version && !without.version) return undefined
  const isRaced = status.used > state.status.used && nameOf(plan) in state.objects
  return { ...state, status, version: state.version + 1, raced: state.raced + (isRaced ? 1 : 0) }
}

function stepsOfCall(state: State, call: Call, without: Without): Step<State>[] {
  const { plan, gateway, next } = call
  const name = nameOf(plan)
  const who = `${gateway}, ${plan}:`
  const go = (to: Call['next']): Call => ({ plan, gateway, next: to })
  if (call.write) return stepsOfWrite(state, call, call.write, without)
  if (next === 'look') {
    const abandoned = { ...state.abandoned, [gateway]: state.abandoned[gateway].filter((id) => id !== plan) }
    return [
      [`${who} looks for objects`, name in state.objects ? replace(state, call) : replace({ ...state, abandoned }, call, go('reserve'))],
    ]
  }
  if (next === 'reserve' || next === 'release') {
    if (findWriter(state, gateway) !== call) return []
    const { isNeeded, ...write } = draft(state, call, without)
    if (isNeeded) return [[`${who} sends the usage`, replace(state, call, { ...call, write })]]
    return [[`${who} needs no write`, end(state, call, write)]]
  }
  if (next === 'build') {
    const failed = { ...state, may: { ...state.may, refuse: state.may.refuse - 1 } }
    const steps: Step<State>[] = [[`${who} builds it`, replace(state, call, go('create'))]]
    return state.may.refuse > 0 ? [...steps, [`${who} cannot build it`, giveBack(failed, call)]] : steps
  }
  if (next === 'create') return stepsOfCreate(state, call)
  // A request without a key waits until no create can succeed.
  if (state.lateCreates.some((late) => late.plan === plan)) return []
  return [[`${who} looks what became of it`, name in state.objects ? made(state, call) : giveBack(state, call)]]
}

/** The next step after the usage is written, or needs no write. */
function end(state: State, call: Call, { outcome }: Write): State {
  const { plan, gateway } = call
  if (call.next === 'release' || !outcome?.granted) return replace(state, call)
  return replace({ ...state, held: hold(state, call, true) }, call, { plan, gateway, next: 'build' })
}

function stepsOfWrite(state: State, call: Call, write: Write, without: Without): Step<State>[] {
  const { plan, gateway, next } = call
  const who = `${gateway}, ${plan}:`
  const again: Call = { plan, gateway, next }
  const done = commit(state, write, without)
  if (!done) return [[`${who} conflict`, replace(state, call, again)]]
  const tidy = (list: string[]) => list.filter((id) => !write.tidied.includes(id))
  const tidied = {
    ...done,
    dropping: { ...done.dropping, [gateway]: tidy(done.dropping[gateway]) },
    abandoned: { ...done.abandoned, [gateway]: tidy(done.abandoned[gateway]) },
  }
  const steps: Step<State>[] = [[`${who} the usage is written`, end(tidied, call, write)]]
  if (state.may.hang === 0) return steps
  const may = { ...state.may, hang: state.may.hang - 1 }
  const giveUp = (from: State): State => {
    const { [gateway]: known } = from.abandoned
    const isHeld = from.held[gateway].includes(plan)
    return {
      ...replace(from, call),
      abandoned: { ...from.abandoned, [gateway]: isHeld || known.includes(plan) ? known : [...known, plan] },
    }
  }
  const lost = { ...done, may }
  const hanging = { ...state, may, lateWrites: [...state.lateWrites, write] }
  return [
    ...steps,
    [`${who} the response is lost`, replace(lost, call, again)],
    [`${who} the write hangs`, replace(hanging, call, again)],
    [`${who} the response is lost, and it gives up`, giveUp(lost)],
    [`${who} the write hangs, and it gives up`, giveUp(hanging)],
  ]
}

/** The call ends without an object, and gives its unit back. */
const giveBack = (state: State, call: Call): State =>
  replace({ ...state, held: hold(state, call, false) }, call, { plan: call.plan, gateway: call.gateway, next: 'release' })

function made(state: State, call: Call): State {
  const dropping = [...new Set([...state.dropping[call.gateway], call.plan])]
  return replace({ ...state, held: hold(state, call, false), dropping: { ...state.dropping, [call.gateway]: dropping } }, call)
}

function stepsOfCreate(state: State, call: Call): Step<State>[] {
  const { plan, gateway } = call
  const name = nameOf(plan)
  const who = `${gateway}, ${plan}:`
  const objects: State['objects'] = { [name]: 'live', ...state.objects }
  const steps: Step<State>[] = [[`${who} creates it`, made({ ...state, objects }, call)]]
  if (state.may.hang === 0) return steps
  const hanging = { ...state, may: { ...state.may, hang: state.may.hang - 1 }, lateCreates: [...state.lateCreates, { name, plan }] }
  // With a key, a retry goes on. Without one, this gateway looks later.
  return [...steps, [`${who} its create hangs`, replace(hanging, call, plan === 'first' ? undefined : { plan, gateway, next: 'wait' })]]
}

function stepsOfGateways(state: State): Step<State>[] {
  return GATEWAYS.filter((gateway) => !state.dead.includes(gateway)).flatMap((gateway): Step<State>[] => {
    const { dropping, abandoned } = state
    if (dropping[gateway].length + abandoned[gateway].length === 0 || findWriter(state, gateway)) return []
    const { status } = draft(state, { plan: 'none', gateway, next: 'look' }, {})
    const tidied = { dropping: { ...dropping, [gateway]: [] }, abandoned: { ...abandoned, [gateway]: [] } }
    return [[`${gateway} tidies up`, { ...state, ...tidied, status, version: state.version + 1 }]]
  })
}

const NOTHING: Changes = { charges: [], settlements: [], drops: [], refunds: [], forget: [] }

function stepsOfOperator(state: State, without: Without): Step<State>[] {
  const { settlement, status, may, applied } = state
  const steps: Step<State>[] = []
  const update = (what: string, changes: Partial<Changes>, done: (after: State, outcomes: Outcome[]) => State) => {
    const { status: next, outcomes } = decide(usageOf(state), { ...NOTHING, ...changes }, NOW)
    const after = next ? { ...state, status: stored(next), version: state.version + 1 } : state
    steps.push([what, done(after, outcomes)])
    if (!next || may.hang === 0) return
    const { settlement: _, ...died } = after
    steps.push([`${what}, and dies`, { ...died, may: { ...may, hang: may.hang - 1 } }])
  }
  if (settlement) {
    update('the operator settles', { settlements: [settlement] }, ({ settlement: _, ...after }) => after)
  } else {
    for (const reservation of status.reservations ?? []) {
      const { id, names, gateway } = reservation
      const isUsed = [...state.calls, ...(without.patience ? [] : state.lateCreates)].some(({ plan }) => plan === id)
      const isGivenUp = isOfBefore(state, reservation)
      const mayLook = isGivenUp || state.dead.includes(gateway as Gateway)
      if (isUsed || !mayLook || gateway === 'operator') continue
      steps.push([
        `the operator looks for ${id}`,
        { ...state, settlement: { reservation, neverMade: names.filter((name) => !(name in state.objects)) } },
      ])
    }
  }
  if (may.apply > 0) {
    update('the operator charges', { charges: [{ uid: 'applied', name: nameOf('applied'), units: 1 }] }, (after, [outcome]) => {
      const isCharged = outcome?.granted === 1
      const objects: State['objects'] = isCharged ? { ...after.objects, [nameOf('applied')]: 'live' } : after.objects
      return { ...after, objects, applied: isCharged ? 'charged' : 'refused', may: { ...may, apply: 0 } }
    })
  }
  if (applied && status.reservations?.some(({ id }) => id === 'applied')) {
    const dropped = new UsageDraft(usageOf(state), NOW)
    dropped.drop('applied')
    steps.push(['the operator drops its own', { ...state, status: stored(dropped.toStatus()), version: state.version + 1 }])
  }
  const name = nameOf('first')
  if (may.refund > 0 && state.objects[name] === 'live')
    update('the operator refunds', { refunds: [{ id: toId(name), units: 1 }] }, (after) => ({ ...after, may: { ...after.may, refund: 0 } }))
  return steps
}

function stepsOfWorld(state: State, without: Without): Step<State>[] {
  const { may, lateCreates, lateWrites, calls, dead } = state
  const steps: Step<State>[] = []
  for (const late of lateCreates) {
    const rest = { ...state, lateCreates: lateCreates.filter((other) => other !== late) }
    steps.push(['a late create arrives', { ...rest, objects: { [late.name]: 'live', ...rest.objects } }], ['a late create fails', rest])
  }
  const isIdle = calls.length + lateCreates.length + GATEWAYS.flatMap((gateway) => state.abandoned[gateway]).length === 0
  const isOpen = state.status.reservations?.some((reservation) => reservation.gateway !== 'operator' && !isOfBefore(state, reservation))
  if (isIdle && isOpen) steps.push(['ten minutes pass', { ...state, periods: state.periods + 1 }])
  for (const late of lateWrites) {
    const rest = { ...state, lateWrites: lateWrites.filter((other) => other !== late) }
    steps.push(['a late write arrives', commit(rest, late, without) ?? rest])
  }
  for (const gateway of GATEWAYS.filter((each) => !dead.includes(each))) {
    if (may.retry > 0)
      steps.push([
        `a retry reaches ${gateway}`,
        { ...state, may: { ...may, retry: may.retry - 1 }, calls: [...calls, { plan: 'first', gateway, next: 'look' }] },
      ])
    if (may.crash > 0 && calls.some((call) => call.gateway === gateway)) steps.push([`${gateway} dies`, die(state, gateway)])
  }
  if (may.other > 0 && !dead.includes('b'))
    steps.push([
      'another request reaches b',
      { ...state, may: { ...may, other: 0 }, calls: [...calls, { plan: 'other', gateway: 'b', next: 'reserve' }] },
    ])
  return steps
}

/** What the gateway has sent may still be carried out. */
function die(state: State, gateway: Gateway): State {
  const own = state.calls.filter((call) => call.gateway === gateway)
  const creates = own.filter(({ next }) => next === 'create').map(({ plan }) => ({ plan, name: nameOf(plan) }))
  return {
    ...state,
    ...{ calls: state.calls.filter((call) => call.gateway !== gateway), dead: [...state.dead, gateway] },
    dropping: { ...state.dropping, [gateway]: [] },
    abandoned: { ...state.abandoned, [gateway]: [] },
    held: { ...state.held, [gateway]: [] },
    lateCreates: [...state.lateCreates, ...creates],
    lateWrites: [...state.lateWrites, ...own.flatMap(({ write }) => write ?? [])],
    may: { ...state.may, crash: state.may.crash - 1 },
  }
}

const stepsOf = (state: State, without: Without): Step<State>[] => [
  ...state.calls.flatMap((call) => stepsOfCall(state, call, without)),
  ...stepsOfGateways(state),
  ...stepsOfOperator(state, without),
  ...stepsOfWorld(state, without),
]

function findFault({ status, objects, raced }: State, steps: readonly Step<State>[]): string | undefined {
  const charged = Object.values(objects).length - (status.refunds?.length ?? 0)
  if (status.used > LIMIT) return 'the usage is above the limit'
  if (charged > status.used) return 'an object is not charged'
  const isOver = steps.every(([name]) => /^a retry|^another|dies$|^the operator (charges|refunds)/.test(name))
  if (isOver && charged + raced < status.used) return 'a unit is lost'
  return undefined
}

const start: State = {
  ...{ version: 1, status: { period: '2026-11', used: 0 }, objects: {}, calls: [{ plan: 'first', gateway: 'a', next: 'reserve' }] },
  ...{
    dropping: { a: [], b: [] },
    abandoned: { a: [], b: [] },
    held: { a: [], b: [] },
    dead: [],
    lateCreates: [],
    lateWrites: [],
    raced: 0,
    periods: 0,
  },
  may: { retry: 1, other: 0, crash: 0, hang: 0, refuse: 0, refund: 0, apply: 0 },
}
const explore = (may: Partial<State['may']>, without: Without = {}) =>
  walk({ start: { ...start, may: { ...start.may, ...may } }, stepsOf: (state) => stepsOf(state, without), findFault })

const orders: [what: string, may: Partial<State['may']>][] = [
  ['a gateway that dies, a write or create that hangs, and a failure', { crash: 1, hang: 1, refuse: 1 }],
  ['two writes or creates that hang', { hang: 2 }],
  ['a request without a key instead of the retry', { retry: 0, other: 1, crash: 1, hang: 1, refuse: 1 }],
  ['a second retry, and a gateway that dies', { retry: 2, crash: 1, refuse: 1 }],
  ['another request, a charge by the operator and a refund', { other: 1, apply: 1, refund: 1 }],
]
for (const [what, may] of orders) {
  t.test(`the usage stays exact in all orders of a request, its retry and the operator, with ${what}`, async (t) => {
    const { states, fault } = explore(may)
    t.equal(fault, undefined)
    t.ok(states > 1_000, `${states} states`)
  })
}

const guards: [what: string, without: Without, last: string][] = [
  ['a write is not compared with the version', { version: true }, 'b tidies up'],
  ['a reservation is released although a retry has joined it', { join: true }, 'a, first: the usage is written'],
  ['the operator settles while a create may succeed', { patience: true }, 'a late create arrives'],
]
for (const [what, without, last] of guards) {
  t.test(`the model finds that ${what}`, async (t) => {
    const { fault } = explore({ crash: 1, hang: 1, refuse: 1 }, without)
    t.equal(fault?.what, 'an object is not charged')
    t.equal(fault?.path.at(-1), last)
  })
}
