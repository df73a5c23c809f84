/**
 * The scheduling module decides which queued Screenshot gets which runner, and how fast a pool grows. It writes nothing to the Kubernetes
 * API: the Screenshot controller claims and dispatches, and the RunnerPool controller creates and deletes pods. Its interface:
 *
 * - `dispatcher.add` queues a Screenshot, and `dispatcher.drop` removes it and releases its runner. After `onAssigned`,
 *   `runners.reservedFor` returns the runner. FairQueue orders the Screenshots of a pool.
 * - `dispatcher.wake` and `wakeAll` assign idle runners. Call them when a runner becomes idle or a limit may have changed.
 * - `dispatcher.queued`, `heldBack` and `accountsWaiting` are the load of a pool.
 * - DispatchTracker and CaptureWatcher follow orders that were sent.
 * - `group`, `wantedPods` and `grow` compute the pods that a pool needs. They are pure.
 *
 * This file builds the state in memory that the capture controllers share during one term of leadership. Each term builds all of it anew, so
 * that state of an earlier term cannot be used by mistake. Everything else is read from the objects or requested from the runners.
 */

import { keyOf } from '@tintype/crds/client/kube-object'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { Expectations } from '../runner/expectations.ts'
import { RunnerClient, type Signer } from '../runner/runner-client.ts'
import { PHASE_INDEX, RUNNING_INDEX, Runners } from '../runner/runners.ts'
import type { TermDeps } from '../runtime/deps.ts'
import { CrashBudget, findCrashRecords } from './crash-budget.ts'
import { DispatchTracker } from './dispatch-tracker.ts'
import { accountLimits, Dispatcher, poolsOf } from './dispatcher.ts'
import { CaptureTimes } from './size.ts'

export interface TermState {
  /** Calls runners. It learns their clocks from responses and is closed at the end of the term. */
  client: RunnerClient
  /** Pods that this leader created or deleted and that its watch has not shown yet. */
  expectations: Expectations
  /** Identities, reservations and usage of runners. A new leader asks the runners and reads the Screenshots. */
  runners: Runners
  /** Mean capture time of each pool. A new leader starts with a guess. */
  captureTimes: CaptureTimes
  /** Runners that each account crashed. Rebuilt from the Screenshots. */
  crashBudget: CrashBudget
  /** Responses of runners to this leader. A new leader starts empty and asks the runners. */
  dispatchTracker: DispatchTracker
  /** Queues of all pools. Rebuilt by reconciling each pending Screenshot once. */
  dispatcher: Dispatcher
  /** The pool that captures a Screenshot: its own, its account's plan's, or the default one. */
  poolOf: (shot: Pick<Screenshot, 'metadata' | 'spec'>) => string
  /** Call it once the runner of a claim was checked. Nothing is dispatched before all claims of an earlier leader are checked. */
  onClaimChecked: (key: string) => void
}

/** Dependencies of a capture controller during one term. */
export interface CaptureDeps extends TermDeps, TermState {}

export interface TermOptions {
  deps: Pick<TermDeps, 'clock' | 'config' | 'reflectors' | 'mayStart' | 'mayWrite'>
  sign: Signer
  /** Port that runners listen on, when it differs from the protocol's default. */
  runnerPort?: number | undefined
  /** Whether the admission policies are in force. */
  isGuarded: () => boolean
  /** Called with the key of each Screenshot that a runner was assigned to. */
  onAssigned: (key: string) => void
}

export function buildTermState({ deps, sign, runnerPort, isGuarded, onAssigned }: TermOptions): TermState {
  const { reflectors, config, clock, mayStart, mayWrite } = deps
  const { namespace, plans } = config
  const screenshots = reflectors.screenshots.lister
  const client = new RunnerClient(sign, { now: clock.wall, mayWrite, ...(runnerPort === undefined ? {} : { port: runnerPort }) })
  const expectations = new Expectations()
  const runners = new Runners({ pods: reflectors.pods.lister, screenshots, expectations })
  const crashBudget = new CrashBudget()
  for (const { account, id, at } of findCrashRecords(screenshots.list(), clock.wall())) crashBudget.note(account, id, at)
  /** Claims of an earlier leader whose runner has not been checked yet. */
  const unchecked = new Set(screenshots.byIndex(PHASE_INDEX, 'Running').map(keyOf))
  const dispatcher = new Dispatcher({
    runners,
    pools: reflectors.pools.lister,
    namespace,
    limitsOf: accountLimits(reflectors.accounts.lister, plans, namespace, (account) => crashBudget.limitOf(account, clock.wall())),
    runningOf: (account) => screenshots.countByIndex(RUNNING_INDEX, account),
    isOpen: () => unchecked.size === 0 && isGuarded() && mayStart(),
    now: clock.wall,
    onAssigned,
  })
  return {
    client,
    expectations,
    runners,
    captureTimes: new CaptureTimes(),
    crashBudget,
    dispatchTracker: new DispatchTracker(),
    dispatcher,
    poolOf: poolsOf(reflectors.accounts.lister, plans, namespace),
    onClaimChecked: (key) => {
      if (unchecked.delete(key) && unchecked.size === 0) dispatcher.wakeAll()
    },
  }
}
