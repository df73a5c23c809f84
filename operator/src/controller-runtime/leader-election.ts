/**
 * Elects one leader among several replicas with a Lease, with client-go's rules and times (15 s lease, 10 s to renew it, a try every 2 s).
 *
 * A standby never compares clocks: a lease has expired when this process has seen it unchanged for the lease duration. So a lost node is
 * replaced 15 s after its last observed renewal, at most 17 s after it was lost. That is too long for a killed process, whose state the
 * cluster knows earlier: `isHolderAlive` asks the cluster, and a holder that is gone is replaced after a short grace period (see
 * holder-pod.ts; within 5 s of a SIGKILL). The grace period covers a renewal that is in progress while the holder is declared gone. A
 * process whose pod was force-deleted keeps renewing until its token is rejected. For this reason, `isHolderAlive` is also called
 * periodically for holders that renew.
 *
 * A lease does not fence: a leader that was frozen may resume and act for a moment. Hence `isLeader()` reads the clock at each call (it is
 * false 10 s after the last renewal even if no timer has run), and the clients of a term ask it before each write (runtime/term.ts).
 */

import { type Lease, type Pod, pods } from '@tintype/crds/client/kinds'
import { isConflict } from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { type Log, silentLog } from '@tintype/crds/client/log'
import { Resource } from '@tintype/crds/client/resource'
import { type Clock, systemClock } from './clock.ts'
import { acquired, holderOf, type LeaseStore, released, renewed, termOf } from './lease.ts'
import type { RuntimeMetrics } from './metrics.ts'

/** State of a holder according to the cluster; `unknown`: only the lease duration decides. */
export type Liveness = 'alive' | 'gone' | 'unknown'

/** The holder to check: its identity, its annotations on the lease, and its last renewal time (by its own clock). */
type HolderQuestion = { identity: string; annotations: Record<string, string>; renewTime: string | undefined }

/** Why leadership ended: stop requested, not renewed in time, or another process holds the lease. */
type StopReason = 'stopped' | 'expired' | 'taken'

export type LeaderElectionOptions = {
  leases: LeaseStore
  /** Unique to the process or its pod. A process that finds its own identity on the lease takes it over at once. */
  identity: string
  /** Annotations on the lease while this process holds it, for `isHolderAlive` of other replicas. */
  holderAnnotations?: Record<string, string>
  /** Starts the leader's work. The signal is aborted when leadership ends. The lease is released when the returned promise settles. */
  onStartedLeading: (signal: AbortSignal) => Promise<void> | void
  onStoppedLeading?: (reason: StopReason) => void
  onNewLeader?: (identity: string) => void
  isHolderAlive?: (holder: HolderQuestion) => Promise<Liveness>
  leaseDurationMilliseconds?: number
  renewDeadlineMilliseconds?: number
  retryMilliseconds?: number
  /** How often a standby reads the lease. */
  pollMilliseconds?: number
  /** How long the lease of a holder that is gone must be unchanged, or how long a holder that renews must be reported gone. */
  goneGraceMilliseconds?: number
  /** How often `isHolderAlive` is called for a holder that renews. */
  probeMilliseconds?: number
  clock?: Clock
  log?: Log
  metrics?: RuntimeMetrics
}

const DEFAULTS = {
  leaseDurationMilliseconds: 15_000,
  renewDeadlineMilliseconds: 10_000,
  retryMilliseconds: 2_000,
  pollMilliseconds: 1_000,
  goneGraceMilliseconds: 1_500,
  probeMilliseconds: 3_000,
  holderAnnotations: {},
  clock: systemClock,
  log: silentLog,
}

/** A lease and the local time at which it was last seen to change. */
type Sighting = { lease: Lease; at: number }

export class LeaderElection {
  readonly #options: LeaderElectionOptions & typeof DEFAULTS
  readonly #clock: Clock
  readonly #stopping = new AbortController()
  #seen: Sighting | undefined
  /** Time of the last `isHolderAlive` call, and the time since which it has reported this holder gone. */
  #lastProbeAt = 0
  #goneSince: number | undefined
  /** Start time of the last successful renewal; undefined while not leading. */
  #renewedAt: { monotonic: number; wall: number } | undefined
  #run: Promise<void> | undefined

  constructor(options: LeaderElectionOptions) {
    this.#options = { ...DEFAULTS, ...options }
    this.#clock = this.#options.clock
    const { leaseDurationMilliseconds, renewDeadlineMilliseconds, retryMilliseconds } = this.#options
    if (leaseDurationMilliseconds <= renewDeadlineMilliseconds) throw new Error('the lease must last longer than the renew deadline')
    if (renewDeadlineMilliseconds <= retryMilliseconds) throw new Error('the renew deadline must be longer than the retry period')
  }

  /** Whether this process may act as the leader now. Nothing is cached. */
  isLeader(): boolean {
    return this.#renewedAt !== undefined && this.#sinceRenewal() < this.#options.renewDeadlineMilliseconds
  }

  /** Identity of the current holder, as last seen by this process. */
  get holder(): string | undefined {
    return holderOf(this.#seen?.lease)
  }

  /** Number of changes of the holder: greater for each new leader. */
  get term(): number {
    return this.#seen ? termOf(this.#seen.lease) : 0
  }

  start(): void {
    if (this.#run) throw new Error('start() may be called only once')
    this.#options.metrics?.leads.set({ name: this.#options.leases.name }, 0)
    this.#run = this.#loop()
  }

  /** Ends the leader's work, waits for it, and releases the lease so that a standby can take over at once. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#run
  }

  async #loop(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const isAcquired = await this.#tryToAcquire().catch((error: unknown) => this.#noteFailure(error, 'lease not acquired'))
      if (isAcquired) await this.#lead()
      else await this.#pause(this.#untilNextLook(), this.#stopping.signal)
    }
  }

  async #tryToAcquire(): Promise<boolean> {
    const { leases, identity, holderAnnotations, leaseDurationMilliseconds } = this.#options
    const lease = await this.#call((signal) => leases.find(signal))
    if (lease) this.#see(lease)
    if (lease && !(await this.#mayTake(lease))) return false
    if (this.#stopping.signal.aborted) return false
    const begun = this.#now()
    const mine = acquired(leases.name, lease, { identity, annotations: holderAnnotations, leaseDurationMilliseconds }, begun.wall)
    const written = await this.#call((signal) => (lease ? leases.replace(mine, signal) : leases.create(mine, signal)))
    this.#renewedAt = begun
    this.#see(written)
    return true
  }

  async #mayTake(lease: Lease): Promise<boolean> {
    const { identity, isHolderAlive, goneGraceMilliseconds, probeMilliseconds } = this.#options
    const holder = holderOf(lease)
    if (holder === undefined || holder === identity) return true
    const unchanged = this.#clock.monotonic() - (this.#seen?.at ?? 0)
    if (unchanged >= durationOf(lease)) return true
    const probedAt = this.#clock.monotonic()
    const isDue = this.#goneSince !== undefined || probedAt - this.#lastProbeAt >= probeMilliseconds
    if (!isHolderAlive || (unchanged < goneGraceMilliseconds && !isDue)) return false
    this.#lastProbeAt = probedAt
    const question = { identity: holder, annotations: lease.metadata.annotations ?? {}, renewTime: lease.spec?.renewTime }
    const liveness = await isHolderAlive(question).catch(() => 'unknown' as const)
    this.#goneSince = liveness === 'gone' ? (this.#goneSince ?? probedAt) : undefined
    const isGone = this.#goneSince !== undefined && Math.max(unchanged, probedAt - this.#goneSince) >= goneGraceMilliseconds
    if (isGone) this.#options.log.warn({ lease: this.#options.leases.name, holder }, 'leader process gone; taking over')
    return isGone
  }

  async #lead(): Promise<void> {
    const { leases, log, metrics, onStoppedLeading } = this.#options
    const leading = new AbortController()
    const finished = new AbortController()
    log.info({ lease: leases.name, identity: this.#options.identity, term: this.term }, 'lease acquired')
    metrics?.leads.set({ name: leases.name }, 1)
    if (this.#stopping.signal.aborted) leading.abort()
    const work = this.#work(leading.signal)
    const finish = () => {
      leading.abort()
      void work.then(() => finished.abort())
    }
    this.#stopping.signal.addEventListener('abort', finish, { once: true })
    if (this.#stopping.signal.aborted) finish()
    const reason = await this.#keepRenewing(finished.signal)
    this.#stopping.signal.removeEventListener('abort', finish)
    if (reason === 'stopped') await this.#release()
    this.#renewedAt = undefined
    leading.abort()
    metrics?.leads.set({ name: leases.name }, 0)
    log.info({ lease: leases.name, reason }, 'leadership ended')
    onStoppedLeading?.(reason)
    await work
  }

  async #work(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    try {
      await this.#options.onStartedLeading(signal)
    } catch (error) {
      if (!signal.aborted) this.#options.log.error({ err: error }, 'leader work failed')
    }
  }

  async #keepRenewing(finished: AbortSignal): Promise<StopReason> {
    const { retryMilliseconds, renewDeadlineMilliseconds } = this.#options
    let failures = 0
    for (;;) {
      await this.#pause(Math.min(retryMilliseconds, renewDeadlineMilliseconds - this.#sinceRenewal()), finished)
      if (finished.aborted) return 'stopped'
      if (this.#sinceRenewal() >= renewDeadlineMilliseconds) return 'expired'
      try {
        if (!(await this.#renew())) return 'taken'
        if (failures > 0) this.#options.metrics?.slowRenewals.inc({ name: this.#options.leases.name })
        failures = 0
      } catch (error) {
        failures++
        this.#noteFailure(error, 'lease not renewed')
      }
    }
  }

  /** Returns false when another process holds the lease. */
  async #renew(): Promise<boolean> {
    const { leases, identity } = this.#options
    const write = (lease: Lease, wall: number) => this.#call((signal) => leases.replace(renewed(lease, wall), signal))
    const begun = this.#now()
    const lease = this.#seen?.lease
    if (!lease) return false
    try {
      this.#see(await write(lease, begun.wall))
    } catch (error) {
      if (!isConflict(error)) throw error
      // Either an earlier renewal whose response was lost, or another holder: read the lease to find out.
      const current = await this.#call((signal) => leases.find(signal))
      if (current) this.#see(current)
      if (!current || holderOf(current) !== identity) return false
      this.#see(await write(current, begun.wall))
    }
    this.#renewedAt = begun
    return true
  }

  async #release(): Promise<void> {
    const lease = this.#seen?.lease
    if (!lease || !this.isLeader()) return
    const { leases } = this.#options
    await this.#call((signal) => leases.replace(released(lease, this.#clock.wall()), signal)).then(
      (written) => this.#see(written),
      (error: unknown) => this.#noteFailure(error, 'lease not released'),
    )
  }

  #see(lease: Lease): void {
    const old = this.#seen?.lease
    if (old && old.metadata.resourceVersion === lease.metadata.resourceVersion) return
    this.#seen = { lease, at: this.#clock.monotonic() }
    const holder = holderOf(lease)
    if (holder === undefined || holder === holderOf(old)) return
    this.#goneSince = undefined
    this.#options.onNewLeader?.(holder)
  }

  /** Time until the next poll, or until the lease expires if that is sooner: polling later would waste a period. */
  #untilNextLook(): number {
    const { pollMilliseconds } = this.#options
    if (!this.#seen || holderOf(this.#seen.lease) === undefined) return pollMilliseconds
    const left = this.#seen.at + durationOf(this.#seen.lease) - this.#clock.monotonic()
    return left > 0 ? Math.min(pollMilliseconds, left) : pollMilliseconds
  }

  /**
   * Time since the start of the last renewal. It includes the wall clock, because the monotonic clock stops while a machine is suspended.
   */
  #sinceRenewal(): number {
    if (!this.#renewedAt) return Number.POSITIVE_INFINITY
    return Math.max(this.#clock.monotonic() - this.#renewedAt.monotonic, this.#clock.wall() - this.#renewedAt.wall)
  }

  #now(): { monotonic: number; wall: number } {
    return { monotonic: this.#clock.monotonic(), wall: this.#clock.wall() }
  }

  /**
   * Sends one request with a timeout of half the renew deadline, so that a lost connection leaves time for a second try.
   * A request of the leader also ends at its renew deadline.
   */
  async #call<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { renewDeadlineMilliseconds } = this.#options
    const leftMilliseconds = this.#renewedAt ? renewDeadlineMilliseconds - this.#sinceRenewal() : renewDeadlineMilliseconds
    const timeout = new AbortController()
    const abort = () => timeout.abort(new Error('request timed out'))
    const cancel = this.#clock.after(Math.max(0, Math.min(leftMilliseconds, renewDeadlineMilliseconds / 2)), abort)
    try {
      return await request(timeout.signal)
    } finally {
      cancel()
    }
  }

  async #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted || milliseconds <= 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const cancel = this.#clock.after(milliseconds, resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
    await promise
    cancel()
  }

  #noteFailure(error: unknown, what: string): false {
    const fields = { lease: this.#options.leases.name, err: error }
    if (isConflict(error)) this.#options.log.debug(fields, what)
    else this.#options.log.warn(fields, what)
    return false
  }
}

const durationOf = (lease: Lease): number => (lease.spec?.leaseDurationSeconds ?? DEFAULTS.leaseDurationMilliseconds / 1_000) * 1_000

/**
 * Lets a standby check whether the leader's process is alive, from the kubelet's status of its pod. The API server knows about a killed
 * process a second or two later, long before its lease expires.
 */

/** Annotation on the lease with the name of the holder pod. The identity of the lease is the uid of the pod. */
export const HOLDER_POD_ANNOTATION = 'tintype.dev/holder-pod'

const PROBE_TIMEOUT_MILLISECONDS = 2_000

/** Returns an `isHolderAlive` for holders that run in `container` of a pod in `namespace`. Needs permission to get pods. */
export function holderPodProbe({ http, namespace, container }: { http: KubeHttp; namespace?: string; container: string }) {
  const client = new Resource(http, pods, { namespace })
  return async (holder: HolderQuestion): Promise<Liveness> => {
    const name = holder.annotations[HOLDER_POD_ANNOTATION]
    if (!name) return 'unknown'
    const pod = await client.find(name, { timeoutMilliseconds: PROBE_TIMEOUT_MILLISECONDS, repeat: 'never' })
    return livenessOf(pod, holder, container)
  }
}

/**
 * `gone`: the pod does not exist, is another pod of that name or has ended, or its container is not running or was started after the last
 * renewal.
 * Both the start and the renewal use the clock of the holder's node. The start is truncated to whole seconds, so it errs toward `alive`.
 */
export function livenessOf(pod: Pod | undefined, { identity, renewTime }: HolderQuestion, container: string): Liveness {
  if (!pod || pod.metadata.uid !== identity) return 'gone'
  if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') return 'gone'
  const state = pod.status?.containerStatuses?.find(({ name }) => name === container)?.state
  if (!state) return 'unknown'
  if (!state.running) return 'gone'
  const startedAt = Date.parse(state.running.startedAt ?? '')
  return startedAt > Date.parse(renewTime ?? '') ? 'gone' : 'alive'
}
