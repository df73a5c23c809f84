import t from 'tap'
import { Store } from '../../../../../crds/client/lister.ts'
import type { Patch } from '../../../../../crds/client/resource.ts'
import { newId } from '../../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../../crds/src/identifiers/names.ts'
import type { DeliveryEntry, Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import type { Webhook } from '../../../../../crds/src/kinds/webhook.ts'
import { accountOf } from '../../../../../crds/src/records/record.ts'
import { isOpenIn, openKey, type Undelivered } from '../../../../../crds/src/webhooks/deliveries.ts'
import { observe } from '../../../../../operator/src/controllers/delivery/controller.ts'
import {
  type Action,
  type DeliveryStateChange,
  decide,
  hasEnded,
  MAX_ATTEMPTS,
  nextAttempt,
  nextAttemptTime,
  type Progress,
  toDeliveryStatePatch,
} from '../../../../../operator/src/controllers/delivery/decide.ts'
import { type Observed, ProgressStore } from '../../../../../operator/src/controllers/delivery/progress.ts'
import { findOpenDeliveries, withOpenDeliveries } from '../../../../../operator/src/controllers/delivery/undelivered-store.ts'
import { ACCOUNT_INDEX } from '../../../../../operator/src/kube/reflectors.ts'
import { aScreenshot, at, aWebhook, completedStatus } from '../../../../support/fakes/builders.ts'
import { patchObject, UnappliedPatch } from '../../../../support/fakes/patch-object.ts'
import { type Step, walk } from '../../../../support/walk.ts'

// One event and one webhook, in all orders of posts, records, archiving and crashes. The decisions are those of the operator; the API server, the
// bucket, the receiver and the order of writes are a model. Programs of 87b74157 count the second and third attempt before they start.

const EVENT = 'screenshot.completed'
const schedule = { delaysMilliseconds: [10_000, 60_000], timeoutMilliseconds: 5_000 }
const DEFER_SECONDS = 5

interface Leader {
  isOld?: boolean
  progress?: Progress
  /** The running post, and how it will end. */
  sent?: { attempt: number; isSuccess: boolean }
  /** A request that the API server has not answered, and the attempt that follows it. */
  request?: { patch: Patch; change: DeliveryStateChange; post?: number }
  archiving?: { next: 'record' | 'open' | 'delete'; version: number; open: Undelivered[] }
  /** The open delivery in the bucket that is attempted. */
  worker?: { next: 'count' | 'post' | 'result' | 'close'; open: Undelivered; attempt: number; isSuccess?: boolean; ended?: number }
}

interface State {
  second: number
  /** Screenshot in the Kubernetes API. `version` is its resourceVersion. */
  live?: { version: number; entry?: DeliveryEntry }
  record?: { entry?: DeliveryEntry }
  open: Undelivered[]
  isMissed: boolean
  /** Requests of which no response has arrived, and which the API server may still carry out. */
  late: Patch[]
  leader: Leader
  /** Numbers of the attempts that were posted. */
  posts: number[]
  isReceived: boolean
  /** Whether its success was recorded. */
  isDone: boolean
  /** Attempts that an operator posted and had not recorded when it died, less those that were repeated. */
  interrupted: number
  /** What may still go wrong. */
  may: { crash: number; fail: number; lose: number; defer: number; rollBack: number }
}

/** What the model does without, to show that the walk finds it. */
interface Without {
  /** The patch does not test the previous entry. */
  tests?: boolean
  /** The archive does not wait for posts that run. */
  wait?: boolean
}

const id = newId('scr', at(0))
const base = aScreenshot({ name: toObjectName(id), metadata: { uid: id } })
const hook = aWebhook()
const finder = { findWebhook: () => hook, findDefaultWebhook: () => undefined }
const webhooks = new Store<Webhook>().addIndex(ACCOUNT_INDEX, accountOf)
webhooks.set(hook)
const KEY = `default/${base.metadata.name}`

const toShot = (entry: DeliveryEntry | undefined): Screenshot => ({
  ...base,
  status: completedStatus(entry ? { deliveries: { [EVENT]: { hook: entry } } } : {}),
})
const entryOf = ({ status }: Pick<Screenshot, 'status'>): DeliveryEntry | undefined => status?.deliveries?.[EVENT]?.hook

/** Calls a pure function once for the same arguments. */
function remember<Given extends unknown[], Result>(compute: (...given: Given) => Result): typeof compute {
  const known = new Map<string, Result>()
  return (...given) => {
    const key = JSON.stringify(given)
    if (!known.has(key)) known.set(key, compute(...given))
    return known.get(key)!
  }
}

/** What the operator sees of the Screenshot. */
const look = remember((entry: DeliveryEntry | undefined, progress: Progress | undefined): Observed => {
  const screenshots = new Store<Screenshot>()
  screenshots.set(toShot(entry))
  const progressStore = new ProgressStore()
  if (progress) progressStore.of(KEY, base.metadata.uid).set(EVENT, 'hook', progress)
  const reflectors = { screenshots: { lister: screenshots }, webhooks: { lister: webhooks } } as never
  return observe(KEY, { reflectors, eventOrder: { followsStart: () => undefined }, progressStore })!
})

/** A post: the receiver gets it, whatever happens to the operator. */
function post(state: State, attempt: number, isSuccess: boolean): State {
  const isRepeated = state.isDone || state.posts.includes(attempt)
  return {
    ...state,
    ...{ posts: [...state.posts, attempt], isReceived: state.isReceived || isSuccess },
    interrupted: state.interrupted - (isRepeated ? 1 : 0),
    may: { ...state.may, fail: state.may.fail - (isSuccess ? 0 : 1) },
  }
}

/** The responses that the receiver may send. */
const answersIn = ({ may }: State): boolean[] => (may.fail > 0 ? [true, false] : [true])

/** The state after the API server has carried out a patch; undefined if it refuses it. */
function applyPatch(state: State, patch: Patch): State | undefined {
  if (!state.live) return undefined
  try {
    const entry = entryOf(patchObject(toShot(state.live.entry), patch))
    return {
      ...state,
      isDone: state.isDone || entry?.state === 'ok',
      live: { version: state.live.version + 1, ...(entry ? { entry } : {}) },
    }
  } catch (error) {
    if (error instanceof UnappliedPatch) return undefined
    throw error
  }
}

function stepsOf(state: State, without: Without): Step<State>[] {
  const own = [...stepsOfDelivery(state, without), ...stepsOfWorker(state)]
  return [...own, ...stepsOfArchive(state, without), ...stepsOfTime(state, own.length > 0), ...stepsOfFaults(state)]
}

/** Steps of the controller of deliveries. */
function stepsOfDelivery(state: State, without: Without): Step<State>[] {
  const { live, leader } = state
  if (leader.request) return stepsOfRequest(state, leader.request)
  if (leader.sent) {
    const { sent, ...rest } = leader
    const ended: Progress = { state: 'ended', at: at(state.second), statusCode: sent.isSuccess ? 200 : 500, jitter: 0, ...sent }
    return [['the response arrives', { ...state, leader: { ...rest, progress: ended } }]]
  }
  if (!live || leader.archiving) return []
  return decideNow(state).flatMap((action): Step<State>[] => {
    if (action.do === 'record') return [request(state, action.changes[0]!, without)]
    return action.do === 'post' ? stepsOfPost(state, action.attempt, without) : []
  })
}

function decideNow({ live, leader, second }: State): Action[] {
  const { candidates } = look(live?.entry, leader.progress)
  return decide(candidates, { schedule, mayPost: true, isDeleteRequested: false, now: at(second) })
}

function request(state: State, change: DeliveryStateChange, without: Without, attempt?: number): Step<State> {
  const patch = toDeliveryStatePatch(toShot(state.live?.entry), [change])
  const body = (patch.body as { op: string }[]).filter(({ op }) => !without.tests || op !== 'test')
  const isMissed = state.isMissed || change.after.state === 'failed'
  const sent = { patch: { ...patch, body }, change, ...(attempt === undefined ? {} : { post: attempt }) }
  return ['sends a result', { ...state, isMissed, leader: { ...state.leader, request: sent } }]
}

function stepsOfPost(state: State, attempt: number, without: Without): Step<State>[] {
  const { leader, live, may, second } = state
  if (may.defer > 0) {
    const deferred: Progress = { state: 'deferred', until: at(second + DEFER_SECONDS) }
    const held = { ...state, may: { ...may, defer: may.defer - 1 }, leader: { ...leader, progress: deferred } }
    return [['the circuit is open', held], ...stepsOfPost({ ...state, may: { ...may, defer: 0 } }, attempt, without)]
  }
  if (leader.isOld && live?.entry && live.entry.attempts < attempt) {
    const due = nextAttemptTime(schedule, { attempt, at: at(second), jitter: 0 }).toISOString()
    const after: DeliveryEntry = { attempts: attempt, at: due, state: 'open' }
    return [request(state, { event: EVENT, webhook: 'hook', before: live.entry, after }, without, attempt)]
  }
  return startPost(state, attempt)
}

const startPost = (state: State, attempt: number): Step<State>[] =>
  answersIn(state).map((isSuccess) => [
    `posts attempt ${attempt}, which ${isSuccess ? 'succeeds' : 'fails'}`,
    { ...post(state, attempt, isSuccess), leader: { ...state.leader, progress: { state: 'posting' }, sent: { attempt, isSuccess } } },
  ])

function stepsOfRequest(state: State, { patch, post: attempt }: NonNullable<Leader['request']>): Step<State>[] {
  const { leader, may } = state
  const { request: _, ...rest } = leader
  const answered = { ...state, leader: rest }
  const applied = applyPatch(answered, patch)
  if (!applied) return [['the API server refuses the result', answered]]
  const { progress, ...recorded } = rest
  const done = attempt === undefined ? { ...applied, leader: recorded } : applied
  const next: Step<State>[] = attempt === undefined ? [['the API server records the result', done]] : startPost(done, attempt)
  if (may.lose === 0) return next
  const less = { ...may, lose: may.lose - 1 }
  return [
    ...next,
    ['its response is lost', { ...applied, may: less }],
    ['the request hangs', { ...answered, may: less, late: [...state.late, patch] }],
  ]
}

/** Steps of the archive: the record, then the open deliveries, then the deletion. */
function stepsOfArchive(state: State, without: Without): Step<State>[] {
  const { live, leader, second } = state
  const { archiving, ...rest } = leader
  if (!live || leader.request) return []
  if (!archiving) {
    const observed = look(live.entry, without.wait ? undefined : leader.progress)
    const open = findOpenDeliveries(observed, finder, at(second))
    return open
      ? [['the archive holds it', { ...state, leader: { ...leader, archiving: { next: 'record', version: live.version, open } } }]]
      : []
  }
  const { next, open, version } = archiving
  const go = (after: State, to: typeof next): State => ({ ...after, leader: { ...leader, archiving: { ...archiving, next: to } } })
  if (next === 'record') {
    const entry = entryOf(withOpenDeliveries(toShot(undefined), open))
    return [['the archive writes the record', go({ ...state, record: entry ? { entry } : {} }, 'open')]]
  }
  if (next === 'open') return [['the archive opens its deliveries', go(open.reduce(write, state), 'delete')]]
  if (live.version !== version) return [['the archive finds a change', { ...state, leader: rest }]]
  const { live: _live, leader: _leader, ...gone } = state
  const { progress: _progress, sent: _sent, ...others } = rest
  return [['the archive deletes it', { ...gone, leader: others }]]
}

const keyOf = (open: Undelivered): string => openKey('default', open)
const remove = (state: State, open: Undelivered): State => ({ ...state, open: state.open.filter((other) => keyOf(other) !== keyOf(open)) })
const write = (state: State, open: Undelivered): State => ({ ...state, open: [...remove(state, open).open, open] })

/** Steps of the worker for deliveries in the bucket. */
function stepsOfWorker(state: State): Step<State>[] {
  const { leader, second, record, live } = state
  const { worker, ...rest } = leader
  if (worker) return stepsOfAttempt(state, worker)
  if (live) return []
  return state.open.flatMap((open): Step<State>[] => {
    if (Date.parse(open.at) > at(second).getTime()) return []
    if (!isOpenIn(toShot(record?.entry), open)) return [['the worker closes an object that does not count', remove(state, open)]]
    const attempt = nextAttempt(open)
    const next = leader.isOld && open.attempts < MAX_ATTEMPTS ? 'count' : 'post'
    const started: State = { ...state, leader: { ...rest, worker: { next, open, attempt } } }
    return [['the worker reads an open delivery', started]]
  })
}

function stepsOfAttempt(state: State, worker: NonNullable<Leader['worker']>): Step<State>[] {
  const { leader, second } = state
  const { open, attempt, isSuccess = false, ended = second } = worker
  const { worker: _, ...rest } = leader
  const to = (after: State, changes: Partial<NonNullable<Leader['worker']>>): State => ({
    ...after,
    leader: { ...leader, worker: { ...worker, ...changes } },
  })
  const due = nextAttemptTime(schedule, { attempt, at: at(ended), jitter: 0 }).toISOString()
  const following: Undelivered = { ...open, attempts: attempt, at: due }
  if (worker.next === 'count')
    return [['the worker counts the attempt', to(remove(write(state, following), open), { next: 'post', open: following })]]
  if (worker.next === 'post') {
    return answersIn(state).map((is) => [
      `the worker posts attempt ${attempt}, which ${is ? 'succeeds' : 'fails'}`,
      to(post(state, attempt, is), { next: 'result', isSuccess: is, ended: second }),
    ])
  }
  if (worker.next === 'close') return [['the worker removes the object', { ...remove(state, open), leader: rest }]]
  if (isSuccess) return [['the worker removes the object', { ...remove(state, open), isDone: true, leader: rest }]]
  if (attempt < MAX_ATTEMPTS && !leader.isOld)
    return [['the worker writes the next attempt', to(write(state, following), { next: 'close' })]]
  if (attempt < MAX_ATTEMPTS) return [['the worker leaves it to the next attempt', { ...state, leader: rest }]]
  return [['the worker stores it as missed', to({ ...state, isMissed: true }, { next: 'close' })]]
}

/** Time passes until something is due. */
function stepsOfTime(state: State, isBusy: boolean): Step<State>[] {
  const { live, leader, open, second } = state
  if (isBusy) return []
  const waits =
    live && !leader.archiving && !leader.request
      ? decideNow(state).flatMap((action) => (action.do === 'requeue' ? action.afterMilliseconds : []))
      : []
  const dues = live ? [] : open.map((each) => Date.parse(each.at) - at(second).getTime()).filter((wait) => wait > 0)
  const wait = Math.min(...waits, ...dues)
  return Number.isFinite(wait) ? [['time passes', { ...state, second: second + wait / 1_000 }]] : []
}

function stepsOfFaults(state: State): Step<State>[] {
  const { leader, may, late } = state
  const steps = late.map((patch): Step<State> => {
    const rest = { ...state, late: late.filter((other) => other !== patch) }
    return ['a late request arrives', applyPatch(rest, patch) ?? rest]
  })
  if (may.crash === 0) return steps
  const { progress, worker, request } = leader
  const isUnrecorded = progress?.state === 'posting' || progress?.state === 'ended' || worker?.next === 'result'
  // Two objects of a delivery stay if the operator dies before it removes the older one.
  const interrupted = state.interrupted + (isUnrecorded ? 1 : worker?.next === 'close' ? MAX_ATTEMPTS : 0)
  const died: State = {
    ...state,
    ...{ leader: {}, interrupted, may: { ...may, crash: may.crash - 1 } },
    late: request ? [...late, request.patch] : late,
  }
  steps.push(['the operator dies', died])
  if (may.rollBack > 0)
    steps.push([
      'the operator dies and is rolled back',
      { ...died, leader: { isOld: true }, may: { ...died.may, rollBack: may.rollBack - 1 } },
    ])
  return steps
}

function findFault({ interrupted, isReceived, isMissed, live, open, late }: State, steps: readonly Step<State>[]): string | undefined {
  if (interrupted < 0) return 'an attempt was repeated, and no operator died between it and its record'
  if (live?.entry?.state === 'ok' && !isReceived) return 'a success was recorded that was none'
  const isOver = steps.every(
    ([name]) => name.startsWith('the operator dies') || name === 'the archive holds it' || name === 'a late request arrives',
  )
  if (!isOver) return undefined
  if (!isReceived && !isMissed) return 'the event was lost'
  return live
    ? hasEnded(live.entry)
      ? undefined
      : 'the delivery stays open'
    : open.length > 0 && late.length === 0
      ? 'an object stays open'
      : undefined
}

const start: State = {
  ...{
    second: 3,
    live: { version: 1 },
    open: [],
    isMissed: false,
    late: [],
    leader: {},
    posts: [],
    isReceived: false,
    isDone: false,
    interrupted: 0,
  },
  may: { crash: 1, fail: 2, lose: 1, defer: 1, rollBack: 1 },
}
const explore = (may: Partial<State['may']>, without: Without = {}) =>
  walk({ start: { ...start, may: { ...start.may, ...may } }, stepsOf: (state) => stepsOf(state, without), findFault })

const orders: [what: string, may: Partial<State['may']>][] = [
  ['an operator that dies once, or is rolled back,', {}],
  ['two operators that die', { crash: 2, lose: 0, defer: 0, rollBack: 0 }],
]
for (const [what, may] of orders) {
  t.test(`${what} loses no event, and repeats only an attempt whose result was not recorded`, async (t) => {
    const { states, fault } = explore(may)
    t.equal(fault, undefined)
    t.ok(states > 1_000, `${states} states`)
  })
}

const guards: [what: string, without: Without, last: string][] = [
  ['a result is written over a later one', { tests: true }, 'a late request arrives'],
  ['the archive takes a delivery that is posted', { wait: true }, 'the worker reads an open delivery'],
]
for (const [what, without, last] of guards) {
  t.test(`the model finds that ${what}`, async (t) => {
    const { fault } = explore({ crash: 0 }, without)
    t.match(fault, { what: /^an attempt was repeated/ })
    t.equal(fault?.path.at(-2), last)
  })
}
