// rbac: coordination.k8s.io/leases delete
// rbac: tintype.dev/accounts list,watch

/**
 * This controller observes Accounts, AccountUsages, Screenshots and the Leases of gateways. Its keys are accounts. It creates the usage
 * object of an account, writes the limits of its plan, and charges Screenshots that no gateway has charged. It refunds failed captures and
 * releases reservations of gateways that have ended, which a scan finds every five seconds. It requeues while a usage object has no room
 * for a charge. Gateways keep charging without it, and a new leader starts from the objects.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { splitKey } from '@tintype/crds/client/kube-object'
import { instrumentsOf } from '@tintype/crds/client/probe-server'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { isScreenshotIdName, toId, toObjectName } from '@tintype/crds/identifiers/names'
import { type AccountUsage, accountUsageDefinition, type Reservation } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { accountOf } from '@tintype/crds/records/record'
import { recordKey } from '@tintype/crds/records/storage-keys'
import { retry } from '@tintype/crds/runtime/retry'
import { ConditionType, setCondition } from '@tintype/crds/schema/conditions'
import { findNameProblem } from '@tintype/crds/schema/custom-resource'
import { isDeleted } from '@tintype/crds/storage/archive'
import { lastUsedAt, unitsOf } from '@tintype/crds/usage/usage'
import type { Registry } from 'prom-client'
import type { Clock } from '../../controller-runtime/clock.ts'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { patchStatus } from '../../kube/clients.ts'
import { ACCOUNT_INDEX, findAccount } from '../../kube/reflectors.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import type { Storage } from '../../storage/storage.ts'
import { type Charge, Charges } from './charges.ts'
import { awaitsRefund, type Changes, type Decision, decide, isCharged, OPERATOR, type Settlement } from './decide.ts'
import { ensureUsage } from './ensure-usage.ts'
import { GatewayLiveness } from './gateway-liveness.ts'

const WORKERS = 8
const FULL_MILLISECONDS = 1_000
const SCAN_MILLISECONDS = 5_000
/** How long the Lease of an ended gateway is kept: it proves that the holder of a reservation has ended. */
const KEEP_LEASE_MILLISECONDS = 600_000

interface QuotaController extends Work {
  /** Charges Screenshots that are about to be claimed and have no charge. */
  charge: Charge
}

/** Creates the controller. Call it once per process. The standby also tracks names and Leases. */
export function createQuotaController(deps: Deps): QuotaController {
  const { reflectors, clock, registry } = deps
  const { lister } = reflectors.screenshots
  lister.addIndex(ACCOUNT_INDEX, accountOf).addIndex(REFUND_INDEX, (shot) => (awaitsRefund(shot) ? accountOf(shot) : undefined))
  const liveness = new GatewayLiveness({ leases: reflectors.gatewayLeases, clock })
  const recentNames = new RecentNames(reflectors.screenshots, clock)
  const metrics = createQuotaMetrics(registry)
  const charges = new Charges()
  const charge: Charge = async (shot) => {
    const outcome = await charges.request(shot)
    metrics.charges.inc({ outcome })
    return outcome
  }
  const parts = { ...deps, log: deps.log.child({ component: 'quota' }), liveness, recentNames, metrics, charges }
  return { charge, start: (term) => startTerm(inTerm(parts, term)) }
}

function startTerm(context: QuotaContext): StartedWork {
  const controller = createController('account-usage', { workers: WORKERS }, (key) => reconcile(key, context), context)
  const { charges, config } = context
  watchChanges(controller, context)
  const timer = setInterval(() => enqueueEnded(controller, context), SCAN_MILLISECONDS)
  charges.onRequest = (account) => controller.enqueue(`${config.namespace}/${account}`)
  controller.onStop(() => {
    clearInterval(timer)
    charges.rejectAll()
  })
  return startControllers([controller])
}

/** Which change enqueues which account. */
function watchChanges(controller: Controller, { reflectors, config: { namespace } }: QuotaContext): void {
  controller.watch(reflectors.accounts)
  controller.watch(reflectors.usages, ({ type, object, old }) =>
    // Charges by gateways need no reconcile.
    type === 'modified' && old?.spec.limit === object.spec.limit && old.spec.ratePerMinute === object.spec.ratePerMinute && object.status
      ? []
      : `${namespace}/${object.metadata.name}`,
  )
  controller.watch(reflectors.screenshots, ({ type, object }) =>
    type !== 'deleted' && awaitsRefund(object) ? `${namespace}/${accountOf(object)}` : [],
  )
}

/** Enqueues accounts with a reservation of an ended gateway, and deletes the Leases of gateways that ended long ago. */
function enqueueEnded(controller: Controller, { reflectors, clients, liveness, log, config: { namespace } }: QuotaContext): void {
  for (const { metadata, status } of reflectors.usages.lister.list()) {
    const isDue = status?.reservations?.some((held) => held.gateway !== OPERATOR && liveness.seemsEnded(held.gateway, lastUsedAt(held)))
    if (isDue) controller.enqueue(`${namespace}/${metadata.name}`)
  }
  for (const name of liveness.expiredFor(KEEP_LEASE_MILLISECONDS)) {
    clients.leases.delete(name).catch((error: unknown) => isNotFound(error) || log.debug({ err: error }, 'lease not deleted'))
  }
}

/** Reconciles one account: its limits, and all known changes of its usage in one update. */
async function reconcile(key: string, context: QuotaContext): Promise<Requeue | undefined> {
  const { reflectors, charges } = context
  const { name } = splitKey(key)
  const account = findAccount(key, reflectors.accounts.lister)
  const pending = charges.pendingOf(name)
  // No object can name an account with an invalid name, and it can have no usage object. Its condition Ready reports the problem.
  if (!account || findNameProblem(accountUsageDefinition, name) !== undefined) {
    for (const each of pending) charges.resolve(name, each, 'missing')
    return undefined
  }
  const usage = await ensureUsage(account, reflectors.usages.lister.get(key), context)
  if (account.spec.suspended) for (const each of pending) charges.resolve(name, each, 'suspended')
  const wanted = account.spec.suspended ? [] : pending
  const settlements = await settleEnded(usage, context)
  // The other changes are collected and decided for each version of the usage object: see applyChanges.
  const { written, outcomes } = await applyChanges(usage, (current) => toChanges(key, current, wanted, settlements, context), context)
  wanted.forEach((each, index) => {
    const { granted = 0, refusal } = outcomes[index] ?? {}
    if (refusal !== 'full') charges.resolve(name, each, granted === 1 ? 'charged' : 'quota')
  })
  await markRefunded(written, context)
  // A usage object without room for another reservation does not reject the charge: a later update has room.
  return outcomes.some(({ refusal }) => refusal === 'full') ? { requeueAfterMilliseconds: FULL_MILLISECONDS } : undefined
}

/** Index of live Screenshots that await a refund, by account. */
const REFUND_INDEX = 'quota-refund'

/** What the standby keeps too. */
interface QuotaParts {
  liveness: GatewayLiveness
  recentNames: RecentNames
  charges: Charges
  metrics: QuotaMetrics
}

/** Dependencies of the account usage controller during one term. */
interface QuotaContext extends TermDeps, QuotaParts {}

// rbac: tintype.dev/screenshots get

// Collects the known changes of an account's usage: charges that wait, units to refund, and reservations whose gateway has ended.

/** Reservations settled in one reconcile; each needs up to a hundred lookups. */
const MAX_SETTLEMENTS = 20
/** How long the refund of a Screenshot that no longer exists is remembered. */
const FORGET_MILLISECONDS = 3_600_000

/** Input of decide for one version of the usage object. A conflict makes the caller collect it again. */
function toChanges(
  key: string,
  { status }: AccountUsage,
  charges: Changes['charges'],
  settlements: readonly Settlement[],
  context: QuotaContext,
): Changes {
  const { namespace = '', name } = splitKey(key)
  const { lister } = context.reflectors.screenshots
  const find = (id: string) => lister.get(`${namespace}/${toObjectName(id)}`)
  const own = status?.reservations?.filter(({ gateway }) => gateway === OPERATOR) ?? []
  const pendingUids = new Set(charges.map(({ uid }) => uid))
  return {
    charges,
    settlements,
    refunds: lister.byIndex(REFUND_INDEX, name).map(({ metadata, spec }) => ({ id: screenshotIdOf(metadata), units: unitsOf(spec) })),
    // Deleted Screenshots may have been captured before, so they stay charged.
    drops: own.filter(({ id, names }) => !pendingUids.has(id) && isDone(lister.get(`${namespace}/${names[0]}`), id)).map(({ id }) => id),
    forget: (status?.refunds ?? []).filter((id) => isForgettable(id, find(id), context.now())),
  }
}

const isDone = (shot: Screenshot | undefined, uid: string): boolean => shot?.metadata.uid !== uid || isCharged(shot)

const isForgettable = (id: string, shot: Screenshot | undefined, now: Date): boolean =>
  shot ? !awaitsRefund(shot) : now.getTime() - createdAtOf(id).getTime() > FORGET_MILLISECONDS

/** Finds the units that ended gateways reserved and never used. */
async function settleEnded({ metadata, status }: AccountUsage, context: QuotaContext): Promise<Settlement[]> {
  const { liveness, recentNames, reflectors, clients, storage, metrics } = context
  const namespace = metadata.namespace
  const hasSeen = (name: string) => recentNames.has(name) || reflectors.screenshots.lister.has(`${namespace}/${name}`)
  const settlements: Settlement[] = []
  for (const reservation of status?.reservations ?? []) {
    if (settlements.length === MAX_SETTLEMENTS) break
    if (reservation.gateway === OPERATOR || !(await liveness.hasEnded(reservation.gateway, lastUsedAt(reservation), clients.leases)))
      continue
    const settlement = await settle(metadata.name, reservation, { hasSeen, screenshots: clients.screenshots, storage })
    metrics.settled.inc()
    metrics.settledUnits.inc(settlement.neverMade.length * (reservation.units ?? 1))
    settlements.push(settlement)
  }
  return settlements
}

/** Sources that show whether a reserved name was created. */
interface SettleContext {
  /** Whether a Screenshot of that name is in the cache or was recently. */
  hasSeen: (name: string) => boolean
  screenshots: Pick<Resource<Screenshot>, 'find'>
  storage: Pick<Storage, 'exists'>
}

/**
 * Finds the objects of a reservation that were never created. Its holder has ended, so they will not be created. In case of doubt a unit
 * stays charged: a client that creates, downloads and deletes in a loop must not reduce its usage.
 * @throws when the API server or the bucket is unavailable; then nothing is settled
 */
async function settle(account: string, reservation: Reservation, context: SettleContext): Promise<Settlement> {
  const { names } = reservation
  const isNeverMade = await Promise.all(names.map((name) => wasNeverMade(account, name, context)))
  return { reservation, neverMade: names.filter((_, index) => isNeverMade[index]) }
}

/** Check the API server first: archived records and REST deletions are written to the bucket before the object is deleted. */
async function wasNeverMade(account: string, name: string, { hasSeen, screenshots, storage }: SettleContext): Promise<boolean> {
  if (!isScreenshotIdName(name) || hasSeen(name)) return false
  if (await screenshots.find(name)) return false
  const id = toId(name)
  return !(await isDeleted(account, id, storage)) && !(await storage.exists(recordKey(account, id)))
}

// rbac: tintype.dev/screenshots/status patch

const MAX_ATTEMPTS = 6

/**
 * Decides on the changes and writes the usage. Gateways write it too, so after a conflict both are repeated with the newer version.
 */
async function applyChanges(
  usage: AccountUsage,
  changesOf: (usage: AccountUsage) => Changes,
  { clients, now, metrics }: QuotaContext,
): Promise<Pick<Decision, 'outcomes'> & { written: AccountUsage }> {
  const write = async (attempt: number) => {
    const current = attempt === 1 ? usage : await clients.usages.get(usage.metadata.name)
    const changes = changesOf(current)
    const { status, outcomes } = decide(current, changes, now())
    if (!status) return { outcomes, written: current }
    const written = await clients.usages.replaceStatus({ ...current, status }, { repeat: 'never' })
    const before = new Set(current.status?.refunds)
    const refunded = new Set((status.refunds ?? []).filter((id) => !before.has(id)))
    metrics.refundedUnits.inc(changes.refunds.filter(({ id }) => refunded.has(id)).reduce((sum, { units }) => sum + units, 0))
    return { outcomes, written }
  }
  return retry(write, { delayOf: (error, attempt) => (isConflict(error) && attempt < MAX_ATTEMPTS ? 0 : undefined), wait: sleep })
}

/** The condition is written after the refund: after a crash in between, only the condition is written again. */
async function markRefunded({ metadata, status }: AccountUsage, { reflectors, clients, now }: QuotaContext): Promise<void> {
  const refunded = new Set(status?.refunds)
  const due = reflectors.screenshots.lister
    .byIndex(REFUND_INDEX, metadata.name)
    .filter((shot) => refunded.has(screenshotIdOf(shot.metadata)))
  await Promise.all(
    due.map(async (shot) => {
      const condition = {
        type: ConditionType.refunded,
        status: 'True',
        reason: isReused(shot) ? 'Cached' : 'CaptureFailed',
        message: 'Its units of the monthly quota were refunded.',
      } as const
      const conditions = setCondition(shot.status?.conditions ?? [], condition, now())
      await patchStatus(clients.screenshots, shot, { conditions })
    }),
  )
}

const REMEMBER_MILLISECONDS = 900_000
const MAX_REMEMBERED = 50_000

/** Names of Screenshots that were deleted recently: a deletion with kubectl leaves no trace in the bucket. */
class RecentNames {
  readonly #goneAt = new Map<string, number>()
  readonly #clock: Clock

  constructor(screenshots: Pick<Reflector<Screenshot>, 'addListener'>, clock: Clock) {
    this.#clock = clock
    screenshots.addListener(({ type, object }) => {
      if (type === 'deleted') this.#remember(object.metadata.name)
    })
  }

  has(name: string): boolean {
    return this.#goneAt.has(name)
  }

  /** Maps keep insertion order: the oldest names come first. */
  #remember(name: string): void {
    const now = this.#clock.monotonic()
    this.#goneAt.set(name, now)
    for (const [oldest, at] of this.#goneAt) {
      if (this.#goneAt.size <= MAX_REMEMBERED && now - at < REMEMBER_MILLISECONDS) return
      this.#goneAt.delete(oldest)
    }
  }
}

type QuotaMetrics = ReturnType<typeof createQuotaMetrics>

/** Creates the metrics. Call it once per process. */
function createQuotaMetrics(registry: Registry) {
  const { counter } = instrumentsOf(registry)
  return {
    refundedUnits: counter('quota_refunds_total', 'Units refunded for failed captures.'),
    settled: counter('quota_settled_total', 'Reservations of ended gateways that were settled.'),
    settledUnits: counter('quota_settled_units_total', 'Units returned by settled reservations.'),
    charges: counter('quota_charges_total', 'Charges at the first claim, by outcome.', ['outcome']),
  }
}
