import type { Pod } from '@tintype/crds/client/kinds'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { SandboxReport, VideoReport } from '@tintype/crds/dispatch/dispatch'
import { Label } from '@tintype/crds/identifiers/names'
import type { RunnerPoolSpec } from '@tintype/crds/kinds/runner-pool'
import type { RunnerClaim, Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { doubled } from '@tintype/crds/runtime/retry'
import { LRUCache } from 'lru-cache'
import type { Expectations } from './expectations.ts'
import type { RunnerIdentity } from './identity.ts'
import { limitsOf } from './pod.ts'
import { endOf, type PodEnd, type PodState, podState, unschedulableReason } from './pod-state.ts'
import type { RunnerAddress } from './runner-client.ts'

// The leader's state of the runners: the pods of the informer cache, joined with state in memory. All of it can be restored: identities
// from the runners, claims from the Screenshots. So nothing is handed over between leaders.

/** One runner, as input of decisions. */
export interface Runner {
  name: string
  uid: string
  pod: Pod
  state: PodState
  templateHash: string | undefined
  /** Undefined until the runner has proved its identity. */
  sandbox: SandboxReport | undefined
  /** Build time of its filter lists, ISO 8601; absent: unknown, or it has none. */
  listsUpdated?: string | undefined
  /** Absent: unknown, or the pod was not started to record videos. */
  video?: VideoReport | undefined
  /** Key of the Screenshot that has claimed or reserved it. */
  workingOn: string | undefined
  /** It is taking or storing the picture of its claim and accepts another order. */
  isStoring: boolean
  /** Account of its current browser. */
  accountName: string | undefined
  captures: number
  /** Consecutive orders that it did not accept or lost. */
  losses: number
  /** Epoch milliseconds. */
  idleSince: number
  /** Epoch milliseconds until which it gets no order. */
  backoffUntil: number
}

/** Index of Screenshots by the uid of the pod of their open claim. */
export const CLAIM_INDEX = 'claim'
/** Index of Screenshots by phase, and of pods by pool. */
export const PHASE_INDEX = 'phase'
export const POOL_INDEX = 'pool'
/** Index of Screenshots by the uid of the pod that last captured them. */
export const RUNNER_INDEX = 'runner'
/** Index of Screenshots with an open claim, by account. */
export const RUNNING_INDEX = 'running'
/** Index of pods by uid. */
export const UID_INDEX = 'uid'

/** Consecutive orders that a runner may lose before it is replaced. */
export const MAX_LOSSES = 3

const MIN_BACKOFF_MILLISECONDS = 1_000
const MAX_BACKOFF_MILLISECONDS = 30_000
/** Maximum number of pod ends that are kept for their Screenshots. */
const MAX_ENDS = 1_024

interface RunnerMemory {
  identity?: RunnerIdentity
  reservedFor?: string
  /** Keys of Screenshots whose picture it is taking or has taken. */
  taken: Set<string>
  accountName?: string | undefined
  captures: number
  losses: number
  idleSince: number
  backoffUntil: number
}

/** Index value of a Screenshot: the uid of the pod of its open claim. */
export const claimedBy = ({ status }: Pick<Screenshot, 'status'>): string | undefined =>
  status?.phase === 'Running' ? status.runner?.uid : undefined

export class Runners {
  readonly #pods: Lister<Pod>
  readonly #screenshots: Lister<Screenshot>
  readonly #expectations: Expectations
  readonly #known = new Map<string, RunnerMemory>()
  readonly #reservations = new Map<string, string>()
  readonly #ends = new LRUCache<string, PodEnd>({ max: MAX_ENDS })
  /** Uids of pods that ended with captures of two accounts. */
  readonly #shared = new LRUCache<string, true>({ max: MAX_ENDS })

  constructor({ pods, screenshots, expectations }: { pods: Lister<Pod>; screenshots: Lister<Screenshot>; expectations: Expectations }) {
    this.#pods = pods
    this.#screenshots = screenshots
    this.#expectations = expectations
  }

  /** All runners of a pool, including those that are terminating or have ended. */
  of(pool: string, now: number): Runner[] {
    return this.#pods.byIndex(POOL_INDEX, pool).map((pod) => this.#toRunner(pod, now))
  }

  /** Runners of a pool that may get a capture now. Called for every event, so busy pods are skipped without building a Runner. */
  idle(pool: string, spec: RunnerPoolSpec, now: number): Runner[] {
    const idle: Runner[] = []
    for (const pod of this.#pods.byIndex(POOL_INDEX, pool)) {
      if (this.#isBusy(pod.metadata.uid ?? '')) continue
      const runner = this.#toRunner(pod, now)
      if (isIdle(runner, spec, now)) idle.push(runner)
    }
    return idle
  }

  /**
   * Number of captures that a pool could start at once if it grew to its limit. While a pod fits on no node, the pool cannot grow.
   * @param maxPods limit of the pool
   */
  freeIn(pool: string, maxPods: number): number {
    let busy = 0
    let usable = 0
    let isFull = false
    for (const pod of this.#pods.byIndex(POOL_INDEX, pool)) {
      if (this.#isBusy(pod.metadata.uid ?? '')) busy++
      const state = podState(pod)
      if (state === 'ready') usable++
      else if (unschedulableReason(pod) !== undefined) isFull = true
      else if (state === 'waiting') usable++
    }
    return (isFull ? Math.min(usable, maxPods) : maxPods) - busy
  }

  find(podKey: string, now: number): Runner | undefined {
    const pod = this.#pods.get(podKey)
    return pod && this.#toRunner(pod, now)
  }

  /** The pod with a uid, whatever its state is. */
  podOf(uid: string): Pod | undefined {
    return this.#pods.byIndex(UID_INDEX, uid)[0]
  }

  identityOf(uid: string): RunnerIdentity | undefined {
    return this.#known.get(uid)?.identity
  }

  /** Records a proved identity. How much an earlier leader used the runner is derived from the records and the runner's report. */
  noteIdentity(uid: string, identity: RunnerIdentity, now: number): void {
    const known = this.#memoryOf(uid)
    const captured = this.#screenshots.byIndex(RUNNER_INDEX, uid)
    known.identity = identity
    known.accountName ??= identity.accountName ?? (captured[0] && accountOf(captured[0]))
    known.captures = Math.max(known.captures, identity.captures, captured.length)
    known.idleSince = now
  }

  /** Reserves a runner for a Screenshot until it is claimed or released. */
  reserve(uid: string, key: string): void {
    this.#memoryOf(uid).reservedFor = key
    this.#reservations.set(key, uid)
  }

  /** The runner reserved for a Screenshot, if its pod still exists. */
  reservedFor(key: string): RunnerClaim | undefined {
    const uid = this.#reservations.get(key)
    const pod = uid === undefined ? undefined : this.podOf(uid)
    return pod && { pod: pod.metadata.name, uid: pod.metadata.uid ?? '' }
  }

  /** Ends a reservation. Returns whether there was one. */
  release(key: string, now: number): boolean {
    const uid = this.#reservations.get(key)
    if (uid === undefined) return false
    this.#reservations.delete(key)
    const known = this.#known.get(uid)
    if (known?.reservedFor === key) {
      delete known.reservedFor
      known.idleSince = now
    }
    return true
  }

  /** Records that the runner accepted an order of this account. */
  noteTaken(uid: string, accountName: string): void {
    const known = this.#memoryOf(uid)
    known.accountName = accountName
    known.captures++
  }

  /** Records that the runner is taking or storing the picture of a Screenshot. */
  noteTakenPicture(uid: string, key: string): void {
    this.#known.get(uid)?.taken.add(key)
  }

  /** Records that the runner finished a capture, with a result or a failure of the page. */
  noteEnded(uid: string, now: number): void {
    const known = this.#known.get(uid)
    if (!known) return
    known.losses = 0
    known.idleSince = now
  }

  /** Records that the runner did not accept an order. It gets no order for a backoff time that doubles. */
  noteLoss(uid: string, now: number): void {
    const known = this.#known.get(uid)
    if (!known) return
    known.losses++
    known.backoffUntil = now + doubled(MIN_BACKOFF_MILLISECONDS, MAX_BACKOFF_MILLISECONDS, known.losses)
  }

  /** How a deleted pod ended; undefined when its status did not say. */
  endOf(uid: string): PodEnd | undefined {
    return this.#ends.get(uid)
  }

  /**
   * Whether a pod that has ended or must end held captures of more than one account: a runner loads a page while it takes the picture of the one before.
   * The answer is remembered, because the claims are released one by one.
   */
  wasShared(uid: string): boolean {
    const claims = this.#screenshots.byIndex(CLAIM_INDEX, uid)
    if (new Set(claims.map(accountOf)).size > 1) this.#shared.set(uid, true)
    return this.#shared.has(uid)
  }

  /** Records the deletion of a pod. Its last status says how it ended. */
  noteDeletedPod(pod: Pod): void {
    const { uid = '' } = pod.metadata
    const end = endOf(pod)
    if (end) this.#ends.set(uid, end)
    this.forget(uid)
  }

  forget(uid: string): void {
    const key = this.#known.get(uid)?.reservedFor
    if (key !== undefined) this.#reservations.delete(key)
    this.#known.delete(uid)
  }

  #memoryOf(uid: string): RunnerMemory {
    let known = this.#known.get(uid)
    if (!known) {
      known = { taken: new Set(), captures: 0, losses: 0, idleSince: 0, backoffUntil: 0 }
      this.#known.set(uid, known)
    }
    return known
  }

  /** True for a runner that cannot accept an order: it is reserved, captures, or stores two pictures. */
  #isBusy(uid: string): boolean {
    const known = this.#known.get(uid)
    if (known?.reservedFor !== undefined) return true
    const count = this.#screenshots.countByIndex(CLAIM_INDEX, uid)
    if (count !== 1 || known === undefined || known.taken.size === 0) return count > 0
    return !this.#screenshots.byIndex(CLAIM_INDEX, uid).every((claim) => known.taken.has(keyOf(claim)))
  }

  /** True when its only open claim is already taking or storing its picture: a runner may hold at most two pictures at a time. */
  #isStoring(known: RunnerMemory | undefined, claims: readonly Screenshot[]): boolean {
    if (!known || known.taken.size === 0) return false
    const keys = new Set(claims.map(keyOf))
    known.taken = known.taken.intersection(keys)
    return claims.length === 1 && known.taken.size === 1
  }

  #toRunner(pod: Pod, now: number): Runner {
    const { name, uid = '', labels } = pod.metadata
    const known = this.#known.get(uid)
    const claims = this.#screenshots.byIndex(CLAIM_INDEX, uid)
    const [claim] = claims
    return {
      name,
      uid,
      pod,
      state: this.#expectations.isDeleted(uid, now) ? 'terminating' : podState(pod),
      templateHash: labels?.[Label.templateHash],
      sandbox: known?.identity?.sandbox,
      listsUpdated: known?.identity?.listsUpdated,
      video: known?.identity?.video,
      workingOn: claim ? keyOf(claim) : known?.reservedFor,
      isStoring: known?.reservedFor === undefined && this.#isStoring(known, claims),
      accountName: known?.accountName ?? (claim && accountOf(claim)),
      captures: known?.captures ?? 0,
      losses: known?.losses ?? 0,
      idleSince: known?.idleSince ?? 0,
      backoffUntil: known?.backoffUntil ?? 0,
    }
  }
}

export const addressOf = ({ metadata, status }: Pod): RunnerAddress => ({ uid: metadata.uid ?? '', ip: status?.podIP ?? '' })

/** True for a runner that will get no more orders. */
export function isSpent(runner: Runner, spec: Pick<RunnerPoolSpec, 'capturesPerPod'>): boolean {
  return runner.captures >= limitsOf(spec).capturesPerPod || runner.losses >= MAX_LOSSES
}

/** Share of its captures after which the successor of a runner is started, because a start takes some seconds. */
const SUCCESSOR_SHARE = 0.9

/** True for a runner close to its capture limit. It keeps working until its successor is ready. */
export const isNearCaptureLimit = ({ captures }: Pick<Runner, 'captures'>, spec: Pick<RunnerPoolSpec, 'capturesPerPod'>): boolean =>
  captures >= Math.ceil(limitsOf(spec).capturesPerPod * SUCCESSOR_SHARE)

/** True for a runner without Chromium's sandbox that has worked for an account: it may serve only this account. */
export const isDedicated = ({ sandbox, accountName }: Runner): boolean => sandbox?.chromiumSandbox === false && accountName !== undefined

/** Whether the sandbox mode of the pool allows the runner to capture. */
export function hasRequiredSandbox({ sandbox }: Runner, spec: Pick<RunnerPoolSpec, 'sandbox'>): boolean {
  return sandbox !== undefined && (spec.sandbox?.mode !== 'required' || (sandbox.chromiumSandbox && sandbox.jail))
}

/** Whether the runner can do what its pool promises: a pool that records videos captures nothing with runners that cannot. */
export const meetsSpec = (runner: Runner, spec: Pick<RunnerPoolSpec, 'sandbox' | 'video'>): boolean =>
  hasRequiredSandbox(runner, spec) && (spec.video !== true || runner.video?.available === true)

/** Whether a runner may get a capture now. */
export function isIdle(runner: Runner, spec: RunnerPoolSpec, now: number): boolean {
  return (
    runner.state === 'ready' &&
    (runner.workingOn === undefined || runner.isStoring) &&
    meetsSpec(runner, spec) &&
    !isSpent(runner, spec) &&
    runner.backoffUntil <= now
  )
}

/** Whether an idle runner may capture for an account. */
export const mayServe = (runner: Runner, account: string): boolean => !isDedicated(runner) || runner.accountName === account

/**
 * Chooses the best idle runner for an account: one whose browser belongs to the account, else one with an unused browser, else one that is
 * not storing. Among equal ones it chooses the one that has been idle longest.
 */
export function chooseRunner(idle: readonly Runner[], account: string): Runner | undefined {
  const rank = ({ accountName }: Runner) => (accountName === account ? 0 : accountName === undefined ? 1 : 2)
  const order = (a: Runner, b: Runner) => rank(a) - rank(b) || Number(a.isStoring) - Number(b.isStoring) || a.idleSince - b.idleSince
  return idle.filter((runner) => mayServe(runner, account)).sort(order)[0]
}
