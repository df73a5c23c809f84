import type { Pod } from '@tintype/crds/client/core-resources'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { SandboxReport } from '@tintype/crds/dispatch/dispatch'
import { Label } from '@tintype/crds/identifiers/names'
import type { RunnerPoolSpec } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import type { Expectations } from './expectations.ts'
import type { RunnerIdentity } from './identity.ts'
import { endOf, type PodEnd } from './pod-end.ts'
import { type PodState, podState } from './pod-state.ts'
import { limitsOf } from './pool-limits.ts'
import type { RunnerAddress } from './runner-client.ts'

// What one leader knows of the runners: the pods as the watch shows them, joined with what only this process knows. All of it can be found
// again: identities by asking, claims from the Screenshots. So nothing here needs to be handed over.

/** One runner as rules look at it. */
export interface Runner {
  name: string
  uid: string
  pod: Pod
  state: PodState
  templateHash: string | undefined
  /** Undefined until it has proved who it is. */
  sandbox: SandboxReport | undefined
  /** When its filter lists were made, ISO 8601; absent: not known, or it has none. */
  listsUpdated?: string | undefined
  /** The Screenshot that has claimed it, or is about to. */
  workingOn: string | undefined
  /** It takes or stores the picture of what it works on, whose page is ready: it takes another order. */
  isStoring: boolean
  /** Account of its current browser. */
  accountName: string | undefined
  captures: number
  /** Orders in a row that it did not take or lost. */
  losses: number
  /** Epoch milliseconds. */
  idleSince: number
  /** Epoch milliseconds until which it is given nothing. */
  restsUntil: number
}

/** Index of Screenshots: under the uid of the pod that has an open claim. */
export const CLAIM_INDEX = 'claim'
/** Index of Screenshots by phase, and of pods by pool. */
export const PHASE_INDEX = 'phase'
export const POOL_INDEX = 'pool'
/** Index of Screenshots: under the uid of the pod that has captured them last. */
export const RUNNER_INDEX = 'runner'
/** Index of Screenshots that have an open claim, by account. */
export const RUNNING_INDEX = 'running'
/** Index of pods by uid. */
export const UID_INDEX = 'uid'

/** Orders in a row that a runner may lose before it is replaced. */
export const MAX_LOSSES = 3

const FIRST_REST_MILLISECONDS = 1_000
const MAX_REST_MILLISECONDS = 30_000
/** Ends of pods that are remembered for the Screenshots that they had. */
const MAX_ENDS = 1_024

interface Knowledge {
  identity?: RunnerIdentity
  reservedFor?: string
  /** Keys of Screenshots whose picture it takes or has taken. */
  taken: Set<string>
  accountName?: string | undefined
  captures: number
  losses: number
  idleSince: number
  restsUntil: number
}

/** Files a Screenshot under its open claim. */
export const claimedBy = ({ status }: Pick<Screenshot, 'status'>): string | undefined =>
  status?.phase === 'Running' ? status.runner?.uid : undefined

export class Runners {
  readonly #pods: Lister<Pod>
  readonly #screenshots: Lister<Screenshot>
  readonly #expectations: Expectations
  readonly #known = new Map<string, Knowledge>()
  readonly #reservations = new Map<string, string>()
  readonly #ends = new Map<string, PodEnd>()

  constructor({ pods, screenshots, expectations }: { pods: Lister<Pod>; screenshots: Lister<Screenshot>; expectations: Expectations }) {
    this.#pods = pods
    this.#screenshots = screenshots
    this.#expectations = expectations
  }

  /** A pool's runners, those that go or have ended included. */
  of(pool: string, now: number): Runner[] {
    return this.#pods.byIndex(POOL_INDEX, pool).map((pod) => this.#toRunner(pod, now))
  }

  /** Those of a pool that may be given a capture now. What plainly works is passed over without a closer look: this is asked at every event. */
  idle(pool: string, spec: RunnerPoolSpec, now: number): Runner[] {
    const idle: Runner[] = []
    for (const pod of this.#pods.byIndex(POOL_INDEX, pool)) {
      if (this.#isBusy(pod.metadata.uid ?? '')) continue
      const runner = this.#toRunner(pod, now)
      if (isIdle(runner, spec, now)) idle.push(runner)
    }
    return idle
  }

  find(podKey: string, now: number): Runner | undefined {
    const pod = this.#pods.get(podKey)
    return pod && this.#toRunner(pod, now)
  }

  identityOf(uid: string): RunnerIdentity | undefined {
    return this.#known.get(uid)?.identity
  }

  /** It has proved who it is. How used it is, an earlier leader knew: the records and the runner tell. */
  noteIdentity(uid: string, identity: RunnerIdentity, now: number): void {
    const known = this.#knowledge(uid)
    const captured = this.#screenshots.byIndex(RUNNER_INDEX, uid)
    known.identity = identity
    known.accountName ??= identity.accountName ?? (captured[0] && accountOf(captured[0]))
    known.captures = Math.max(known.captures, identity.captures, captured.length)
    known.idleSince = now
  }

  /** Keeps a runner for a Screenshot until it is claimed or released. */
  reserve(uid: string, key: string): void {
    this.#knowledge(uid).reservedFor = key
    this.#reservations.set(key, uid)
  }

  /** The runner kept for a Screenshot: pod key of it, if the pod is still there. */
  reservedFor(key: string, now: number): Runner | undefined {
    const uid = this.#reservations.get(key)
    if (uid === undefined) return undefined
    const pod = this.#pods.byIndex(UID_INDEX, uid)[0]
    return pod && this.#toRunner(pod, now)
  }

  /** Ends a reservation; says whether there was one. */
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

  /** It took an order of this account. */
  noteTaken(uid: string, accountName: string): void {
    const known = this.#knowledge(uid)
    known.accountName = accountName
    known.captures++
  }

  /** It takes the picture of a Screenshot, or stores it. */
  noteTakenPicture(uid: string, key: string): void {
    this.#known.get(uid)?.taken.add(key)
  }

  /** It ended a capture, well or with a failure of the page. */
  noteEnded(uid: string, now: number): void {
    const known = this.#known.get(uid)
    if (!known) return
    known.losses = 0
    known.idleSince = now
  }

  /** It did not take an order: it rests for a while, longer each time. */
  noteLoss(uid: string, now: number): void {
    const known = this.#known.get(uid)
    if (!known) return
    known.restsUntil = now + Math.min(MAX_REST_MILLISECONDS, FIRST_REST_MILLISECONDS * 2 ** known.losses)
    known.losses++
  }

  /** How a pod ended that is not to be seen any more; undefined when nothing was said of it. */
  endOf(uid: string): PodEnd | undefined {
    return this.#ends.get(uid)
  }

  /** The pod is gone; what was last seen of it tells how. */
  noteDeletedPod(pod: Pod): void {
    const { uid = '' } = pod.metadata
    const end = endOf(pod)
    if (end) this.#ends.set(uid, end)
    if (this.#ends.size > MAX_ENDS) for (const oldest of this.#ends.keys().take(1)) this.#ends.delete(oldest)
    this.forget(uid)
  }

  forget(uid: string): void {
    const key = this.#known.get(uid)?.reservedFor
    if (key !== undefined) this.#reservations.delete(key)
    this.#known.delete(uid)
  }

  #knowledge(uid: string): Knowledge {
    let known = this.#known.get(uid)
    if (!known) {
      known = { taken: new Set(), captures: 0, losses: 0, idleSince: 0, restsUntil: 0 }
      this.#known.set(uid, known)
    }
    return known
  }

  /** True for what is promised, or works and stores nothing. */
  #isBusy(uid: string): boolean {
    const known = this.#known.get(uid)
    if (known?.reservedFor !== undefined) return true
    return (known?.taken.size ?? 0) === 0 && this.#screenshots.countByIndex(CLAIM_INDEX, uid) > 0
  }

  /** True when there is one open claim, and its picture is being taken: two pictures at a time are as many as a runner may hold. */
  #isStoring(known: Knowledge | undefined, claims: readonly Screenshot[]): boolean {
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
      workingOn: claim ? keyOf(claim) : known?.reservedFor,
      isStoring: known?.reservedFor === undefined && this.#isStoring(known, claims),
      accountName: known?.accountName ?? (claim && accountOf(claim)),
      captures: known?.captures ?? 0,
      losses: known?.losses ?? 0,
      idleSince: known?.idleSince ?? 0,
      restsUntil: known?.restsUntil ?? 0,
    }
  }
}

export const addressOf = ({ uid, pod }: Pick<Runner, 'uid' | 'pod'>): RunnerAddress => ({ uid, ip: pod.status?.podIP ?? '' })

/** True for a runner that will never be given anything again. */
export function isSpent(runner: Runner, spec: Pick<RunnerPoolSpec, 'capturesPerPod'>): boolean {
  return runner.captures >= limitsOf(spec).capturesPerPod || runner.losses >= MAX_LOSSES
}

/** Part of its captures after which a runner's successor is started: a start takes some seconds, and nobody should wait for it. */
const SUCCESSOR_SHARE = 0.9

/** True for a runner that will soon be given nothing any more. It still works until its successor is up. */
export const isNearCaptureLimit = ({ captures }: Pick<Runner, 'captures'>, spec: Pick<RunnerPoolSpec, 'capturesPerPod'>): boolean =>
  captures >= Math.ceil(limitsOf(spec).capturesPerPod * SUCCESSOR_SHARE)

/** True for a runner without Chromium's sandbox that has worked for an account: it works for no other. */
export const isDedicated = ({ sandbox, accountName }: Runner): boolean => sandbox?.chromiumSandbox === false && accountName !== undefined

/** Whether the pool's sandbox mode lets it capture. */
export function hasRequiredSandbox({ sandbox }: Runner, spec: Pick<RunnerPoolSpec, 'sandbox'>): boolean {
  return sandbox !== undefined && (spec.sandbox?.mode !== 'required' || (sandbox.chromiumSandbox && sandbox.jail))
}

/** Whether a runner may be given a capture now. */
export function isIdle(runner: Runner, spec: RunnerPoolSpec, now: number): boolean {
  return (
    runner.state === 'ready' &&
    (runner.workingOn === undefined || runner.isStoring) &&
    hasRequiredSandbox(runner, spec) &&
    !isSpent(runner, spec) &&
    runner.restsUntil <= now
  )
}

/** Whether an idle runner may capture for an account. */
export const mayServe = (runner: Runner, account: string): boolean => !isDedicated(runner) || runner.accountName === account

/**
 * The best of the idle runners for an account: the one whose browser is the account's, else one whose browser nobody has used,
 * else one that stores nothing, and of these the one that has been idle longest.
 */
export function chooseRunner(idle: readonly Runner[], account: string): Runner | undefined {
  const rank = ({ accountName }: Runner) => (accountName === account ? 0 : accountName === undefined ? 1 : 2)
  const order = (a: Runner, b: Runner) => rank(a) - rank(b) || Number(a.isStoring) - Number(b.isStoring) || a.idleSince - b.idleSince
  return idle.filter((runner) => mayServe(runner, account)).sort(order)[0]
}
