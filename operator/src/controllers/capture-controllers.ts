/**
 * The leader's work on Screenshots and RunnerPools during one term. All state in memory is rebuilt at the start of each term, so that state
 * of an earlier term cannot be used by mistake. Everything else is read from the objects or requested from the runners.
 */

import {
  pods as podResource,
  secrets as secretResource,
  tokenReviews,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '@tintype/crds/client/core-resources'
import { runnerPools as poolResource, screenshots as screenshotResource } from '@tintype/crds/client/kinds'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { ReflectorEvent } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import { DEFAULT_POOL, Label } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { accountOf } from '@tintype/crds/records/record'
import { Controller, type Reconcile } from '../controller-runtime/controller.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { Expectations } from '../runner/expectations.ts'
import { RunnerClient } from '../runner/runner-client.ts'
import { CLAIM_INDEX, PHASE_INDEX, RUNNING_INDEX, type Runner, Runners } from '../runner/runners.ts'
import type { Signer } from '../runner/signature.ts'
import type { Deps, StartedWork, Work } from '../runtime/deps.ts'
import { accountLimits } from '../scheduling/account-limits.ts'
import { CaptureWatcher } from '../scheduling/capture-watcher.ts'
import { CrashBudget, findCrashRecords } from '../scheduling/crash-budget.ts'
import { DispatchTracker } from '../scheduling/dispatch-tracker.ts'
import { Dispatcher } from '../scheduling/dispatcher.ts'
import { poolsOf } from '../scheduling/pool-of.ts'
import { CaptureTimes } from '../scheduling/size.ts'
import { Guard } from './guard/controller.ts'
import type { Charge } from './quota/charges.ts'
import { isCharged } from './quota/decide.ts'
import { reconcilePool, reconcileRunner } from './runner-pool/reconcile.ts'
import { ChargeBackoff } from './screenshot/charge-backoff.ts'
import { Deletions } from './screenshot/deletion.ts'
import { toLogLine } from './screenshot/log-line.ts'
import { PictureCache } from './screenshot/picture-cache.ts'
import { reconcile } from './screenshot/reconcile.ts'
import { toSpans } from './screenshot/spans.ts'

export interface CoreOptions {
  deps: Deps
  metrics: Pick<Metrics, 'screenshot' | 'pool'>
  sign: Signer
  /** Charges a Screenshot that no gateway has charged; absent: nothing is charged. */
  charge?: Charge
  /** Port that runners listen on, when it differs from the protocol's default. */
  runnerPort?: number
}

const GUARD_KEY = 'policy'
/** How long changes of Screenshots are collected before their pool is reconciled. */
const POOL_MILLISECONDS = 50
/** A reconcile of a Screenshot mostly waits for the API server and for runners. */
const WORKERS = { screenshot: 64, runnerpool: 2, runner: 16, 'screenshot-deletion': 4, guard: 1 } as const

export function createCore(options: CoreOptions): Work {
  return { start: (signal) => startTerm(options, signal) }
}

function startTerm({ deps, metrics, sign, charge, runnerPort }: CoreOptions, signal: AbortSignal): StartedWork {
  const { http, reflectors, storage, report, events, archiving, config, log, keys, clock } = deps
  const { namespace } = config
  const now = () => new Date(clock.wall())
  const isLeader = () => !signal.aborted && deps.isLeader()
  const client = new RunnerClient(sign, { now: clock.wall, ...(runnerPort === undefined ? {} : { port: runnerPort }) })
  const expectations = new Expectations()
  const runners = new Runners({ pods: reflectors.pods.lister, screenshots: reflectors.screenshots.lister, expectations })
  const captureTimes = new CaptureTimes()
  const deletions = new Deletions()
  const adoption = new Set(reflectors.screenshots.lister.byIndex(PHASE_INDEX, 'Running').map(keyOf))
  const pods = new Resource(http, podResource, { namespace })

  const guard = new Guard({
    policies: new Resource(http, validatingAdmissionPolicies),
    bindings: new Resource(http, validatingAdmissionPolicyBindings),
    expected: [config.admissionPolicy, config.trustedSpecPolicy],
    onChange: (decision) => {
      if (!decision.guarded) log.error({ reason: decision.reason, detail: decision.message }, 'dispatch blocked by admission policy check')
      enqueueAllPools()
    },
  })
  const crashBudget = new CrashBudget()
  for (const { account, id, at } of findCrashRecords(reflectors.screenshots.lister.list(), clock.wall())) crashBudget.note(account, id, at)
  const cache = new PictureCache(storage, log, { report, now })
  const poolOf = poolsOf(reflectors.accounts.lister, config.plans, namespace)
  const dispatcher: Dispatcher = new Dispatcher({
    runners,
    pools: reflectors.pools.lister,
    namespace,
    limitsOf: accountLimits(reflectors.accounts.lister, config.plans, namespace, (account) => crashBudget.limitOf(account, clock.wall())),
    runningOf: (account) => reflectors.screenshots.lister.countByIndex(RUNNING_INDEX, account),
    isOpen: () => adoption.size === 0 && guard.decision.guarded && isLeader(),
    now: clock.wall,
    onAssigned: (key) => screenshots.enqueue(key),
  })
  const onClaimChecked = (key: string) => {
    if (adoption.delete(key) && adoption.size === 0) dispatcher.wakeAll()
  }

  const shared = { namespace, pods, reflectors, runners, expectations, dispatcher, events, log, now, isLeader }
  const dispatchTracker = new DispatchTracker()
  const onChange = (key: string) => {
    dispatchTracker.outdate(key)
    screenshots.enqueue(key)
  }
  const onTaken = (key: string, podUid: string) => {
    runners.noteTakenPicture(podUid, key)
    dispatcher.wakeAll()
  }
  const screenshotContext = {
    ...shared,
    client,
    crashBudget,
    chargeBackoff: new ChargeBackoff(),
    poolOf,
    captureWatcher: new CaptureWatcher({ client, onChange, onTaken, isLeader, now }),
    storage,
    ring: keys.downloadKeys,
    report,
    cache,
    onClaimChecked,
    charge,
    maxFileBytes: config.maxFileBytes,
    optionsSources: {
      storage,
      report,
      openingKeys: keys.openingKeys,
      secrets: new Resource(http, secretResource, { namespace }),
      policy: config.optionPolicy,
    },
    screenshots: new Resource(http, screenshotResource, { namespace }),
    dispatchTracker,
    metrics: metrics.screenshot,
  }
  const { d: _, ...dispatchPublicKey } = keys.dispatchKey
  const poolContext = {
    ...shared,
    client,
    captureTimes,
    guard: () => guard.decision,
    pools: new Resource(http, poolResource, { namespace }),
    podSettings: { namespace, release: config.release, logLevel: config.logLevel, dispatchPublicKey },
    memories: new Map(),
    reviews: new Resource(http, tokenReviews),
    metrics: metrics.pool,
    onIdentified: ({ uid, pod }: Runner) => {
      pools.enqueue(poolKeyOf(pod.metadata.labels?.[Label.pool]))
      for (const key of claimedKeys(uid)) screenshots.enqueue(key)
    },
  }

  const controller = (name: keyof typeof WORKERS, step: Reconcile) =>
    new Controller({ name, reconcile: step, log, workers: WORKERS[name], metrics: deps.controllerMetrics })
  const screenshots = controller('screenshot', (key) => reconcile(key, screenshotContext))
  const pools = controller('runnerpool', (key) => reconcilePool(key, poolContext))
  const runner = controller('runner', (key) => reconcileRunner(key, poolContext))
  const deletion = controller('screenshot-deletion', (uid) => deletions.reconcile(uid, screenshotContext))
  const guarding = controller('guard', () => guard.reconcile())
  const controllers = [guarding, screenshots, pools, runner, deletion]

  const enqueueAllPools = () => {
    for (const key of reflectors.pools.lister.keys()) pools.enqueue(key)
  }
  const poolKeyOf = (name = DEFAULT_POOL) => `${namespace}/${name}`
  const claimedKeys = (uid = '') => reflectors.screenshots.lister.byIndex(CLAIM_INDEX, uid).map(keyOf)
  const waitingFor = (name: string) => reflectors.screenshots.lister.byIndex(PHASE_INDEX, 'Pending').filter((shot) => poolOf(shot) === name)

  const waitingOf = (account: string) =>
    reflectors.screenshots.lister.byIndex(PHASE_INDEX, 'Pending').filter((shot) => accountOf(shot) === account)
  const unpaid = (account: string) => (charge === undefined ? [] : waitingOf(account).filter((shot) => !isCharged(shot)))

  const noteEnd = (shot: Screenshot) => {
    metrics.screenshot.onFinished(shot)
    void cache.keep(shot)
    const { startTime = '', completionTime = '' } = shot.status ?? {}
    const milliseconds = Date.parse(completionTime) - Date.parse(startTime)
    // Prefer the runner's own measurement: the start and end times come from different clocks.
    const taken = shot.status?.result?.processingMilliseconds ?? milliseconds
    if (taken >= 0 && !isReused(shot)) captureTimes.note(poolOf(shot), taken)
    // The account may have been at its limit in other pools too.
    if (reflectors.pools.lister.size > 1) dispatcher.wakeAll()
    if (deps.spans) for (const span of toSpans(shot)) deps.spans.add(span)
    log.info(toLogLine(shot), 'screenshot finished')
  }
  const enqueueDeletion = (shot: Screenshot) => {
    deletion.enqueue(deletions.add(shot))
  }
  const noteDeleted = (shot: Screenshot) => {
    if (!archiving.noteDeleted(shot)) enqueueDeletion(shot)
  }
  archiving.onReleased = enqueueDeletion
  const unsubscribe = reflectors.screenshots.addListener(({ type, object, old, source }: ReflectorEvent<Screenshot>) => {
    const isSame = old?.metadata.uid === object.metadata.uid
    if (type === 'deleted') noteDeleted(old ?? object)
    else if (old && !isSame) noteDeleted(old)
    else if (old && source !== 'list' && !isFinished(old) && isFinished(object)) noteEnd(object)
  })

  guarding.enqueue(GUARD_KEY)
  // Ignore Screenshots that were finished when first seen: after a restart there may be ten thousand of them.
  screenshots.watch(reflectors.screenshots, ({ type, object, old }) =>
    type !== 'deleted' && isFinished(object) && (!old || isFinished(old)) ? undefined : keyOf(object),
  )
  screenshots.watch(reflectors.accounts, ({ type, object, old }) => {
    if (type === 'added') return unpaid(object.metadata.name).map(keyOf)
    return old && old.spec.plan !== object.spec.plan ? waitingOf(object.metadata.name).map(keyOf) : []
  })
  screenshots.watch(reflectors.pods, ({ object }) => claimedKeys(object.metadata.uid))
  screenshots.watch(reflectors.pools, ({ type, object }) => (type === 'modified' ? [] : waitingFor(object.metadata.name).map(keyOf)))
  pools.watch(reflectors.pools)
  pools.watch(reflectors.pods, ({ object }) => poolKeyOf(object.metadata.labels?.[Label.pool]))
  const unsubscribeQueue = reflectors.screenshots.addListener(({ object, old }) => {
    if (old && old.status?.phase === object.status?.phase) return
    const pool = poolOf(object)
    // Wake the dispatcher at once so that an idle runner is used; the pool size is decided for many changes together.
    dispatcher.wake(pool)
    pools.enqueueAfter(poolKeyOf(pool), POOL_MILLISECONDS)
  })
  runner.watch(reflectors.pods)
  const unsubscribePods = reflectors.pods.addListener(({ type, object }) => {
    if (type === 'deleted') runners.noteDeletedPod(object)
  })
  for (const each of controllers) each.start()

  const stop = async () => {
    unsubscribe()
    unsubscribeQueue()
    unsubscribePods()
    await Promise.all(controllers.map((each) => each.stop()))
    await client.close()
    // Remove the gauges of the pools: otherwise this process reports stale values while the next leader reports current ones.
    for (const { metadata: pool } of reflectors.pools.lister.list()) metrics.pool.onPoolGone(pool.name)
  }
  return { controllers, stop }
}
