/**
 * One leader among several replicas, by a Lease, with client-go's rules and times (15 s lease, 10 s to renew it, a try every 2 s).
 *
 * A standby never compares clocks: a lease has expired when this process has seen it unchanged for the lease's duration. So a lost node is
 * replaced 15 s after its last renewal was seen, at most 17 s after it was lost. For a process that was killed that is too long, and the
 * cluster knows better: `isHolderAlive` asks it, and a holder that is gone is replaced after a short grace (see holder-pod.ts; within 5 s
 * of a SIGKILL). The grace is for a holder that is being declared dead while a renewal of it is under way. One whose pod was removed by force
 * while its process runs on renews for as long as its token is believed, and then not: it is asked after now and then though it renews.
 *
 * A lease does not fence: a leader that was frozen may wake up and act for a moment. Hence `isLeader()` reads the clock at each call (it
 * is false 10 s after the last renewal even if no timer has run), and every write of a leader carries its precondition.
 */

import type { Lease } from '@tintype/crds/client/core-resources'
import { isConflict } from '@tintype/crds/client/kube-error'
import { type Log, silentLog } from '@tintype/crds/client/log'
import { type Clock, systemClock } from './clock.ts'
import { acquired, holderOf, type LeaseStore, released, renewed, termOf } from './lease.ts'
import type { LeaderElectionMetrics } from './metrics.ts'

export { type LeaseStore, leaseStore } from './lease.ts'

/** What the cluster says about a holder; `unknown` leaves it to the lease's time. */
export type Liveness = 'alive' | 'gone' | 'unknown'

/** Who is asked about: its identity, what it wrote on the lease, and when it last did (by its own clock). */
export type HolderQuestion = { identity: string; annotations: Record<string, string>; renewTime: string | undefined }

/** Why a leader is none any more: asked to stop, not renewed in time, or somebody else has the lease. */
export type StopReason = 'stopped' | 'expired' | 'taken'

export type LeaderElectionOptions = {
  leases: LeaseStore
  /** Unique to the process or its pod: a process that finds its own identity on the lease takes it over at once. */
  identity: string
  /** Written on the lease while this process holds it, for others' `isHolderAlive`. */
  holderAnnotations?: Record<string, string>
  /** Begins the leader's work. The signal ends when leadership does; the lease is given up when the returned promise has settled. */
  onStartedLeading: (signal: AbortSignal) => Promise<void> | void
  onStoppedLeading?: (reason: StopReason) => void
  onNewLeader?: (identity: string) => void
  isHolderAlive?: (holder: HolderQuestion) => Promise<Liveness>
  leaseDurationMilliseconds?: number
  renewDeadlineMilliseconds?: number
  retryMilliseconds?: number
  /** How often a standby looks at the lease. */
  pollMilliseconds?: number
  /** How long the lease of a holder that is gone must have stood still, or a holder that renews have been called gone. */
  goneGraceMilliseconds?: number
  /** How often `isHolderAlive` is asked about a holder that renews. */
  probeMilliseconds?: number
  clock?: Clock
  log?: Log
  metrics?: LeaderElectionMetrics
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

/** A lease as it was last seen to change, by the local clock. */
type Sighting = { lease: Lease; at: number }

export class LeaderElection {
  readonly #options: LeaderElectionOptions & typeof DEFAULTS
  readonly #clock: Clock
  readonly #stopping = new AbortController()
  #seen: Sighting | undefined
  /** When `isHolderAlive` was asked last, and since when it has called this holder gone. */
  #askedAt = 0
  #goneSince: number | undefined
  /** When the last successful renewal was begun; undefined while not leading. */
  #renewedAt: { monotonic: number; wall: number } | undefined
  #run: Promise<void> | undefined

  constructor(options: LeaderElectionOptions) {
    this.#options = { ...DEFAULTS, ...options }
    this.#clock = this.#options.clock
    const { leaseDurationMilliseconds, renewDeadlineMilliseconds, retryMilliseconds } = this.#options
    if (leaseDurationMilliseconds <= renewDeadlineMilliseconds) throw new Error('the lease must last longer than the renew deadline')
    if (renewDeadlineMilliseconds <= retryMilliseconds) throw new Error('the renew deadline must be longer than the retry period')
  }

  /** Whether this process may act as the leader now. Ask before each act: nothing is cached. */
  isLeader(): boolean {
    return this.#renewedAt !== undefined && this.#sinceRenewal() < this.#options.renewDeadlineMilliseconds
  }

  /** Who holds the lease as far as this process has seen. */
  get holder(): string | undefined {
    return holderOf(this.#seen?.lease)
  }

  /** How often the lease has changed hands: greater for each new leader. */
  get term(): number {
    return this.#seen ? termOf(this.#seen.lease) : 0
  }

  start(): void {
    if (this.#run) throw new Error('an election starts once')
    this.#options.metrics?.onStatus?.(this.#options.leases.name, false)
    this.#run = this.#loop()
  }

  /** Ends the leader's work, waits for it, and gives the lease up so that a standby need not wait. */
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
    const asked = this.#clock.monotonic()
    const isDue = this.#goneSince !== undefined || asked - this.#askedAt >= probeMilliseconds
    if (!isHolderAlive || (unchanged < goneGraceMilliseconds && !isDue)) return false
    this.#askedAt = asked
    const question = { identity: holder, annotations: lease.metadata.annotations ?? {}, renewTime: lease.spec?.renewTime }
    const liveness = await isHolderAlive(question).catch(() => 'unknown' as const)
    this.#goneSince = liveness === 'gone' ? (this.#goneSince ?? asked) : undefined
    const isGone = this.#goneSince !== undefined && Math.max(unchanged, asked - this.#goneSince) >= goneGraceMilliseconds
    if (isGone) this.#options.log.warn({ lease: this.#options.leases.name, holder }, 'the leader is gone: taking over')
    return isGone
  }

  async #lead(): Promise<void> {
    const { leases, log, metrics, onStoppedLeading } = this.#options
    const leading = new AbortController()
    const finished = new AbortController()
    log.info({ lease: leases.name, identity: this.#options.identity, term: this.term }, 'leading')
    metrics?.onStatus?.(leases.name, true)
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
    metrics?.onStatus?.(leases.name, false)
    log.info({ lease: leases.name, reason }, 'leading no more')
    onStoppedLeading?.(reason)
    await work
  }

  async #work(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    try {
      await this.#options.onStartedLeading(signal)
    } catch (error) {
      if (!signal.aborted) this.#options.log.error({ err: error }, 'the work of the leader failed')
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
        if (failures > 0) this.#options.metrics?.onSlowPath?.(this.#options.leases.name)
        failures = 0
      } catch (error) {
        failures++
        this.#noteFailure(error, 'lease not renewed')
      }
    }
  }

  /** False when somebody else has the lease. */
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
      // Either an earlier renewal whose answer was lost, or another holder: only the lease can tell.
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

  /** The next poll, or the moment at which the lease expires if that is sooner: polling past it would waste a period. */
  #untilNextLook(): number {
    const { pollMilliseconds } = this.#options
    if (!this.#seen || holderOf(this.#seen.lease) === undefined) return pollMilliseconds
    const left = this.#seen.at + durationOf(this.#seen.lease) - this.#clock.monotonic()
    return left > 0 ? Math.min(pollMilliseconds, left) : pollMilliseconds
  }

  /** The time since the last renewal was begun. The wall clock counts too: the other one stands still while a machine is suspended. */
  #sinceRenewal(): number {
    if (!this.#renewedAt) return Number.POSITIVE_INFINITY
    return Math.max(this.#clock.monotonic() - this.#renewedAt.monotonic, this.#clock.wall() - this.#renewedAt.wall)
  }

  #now(): { monotonic: number; wall: number } {
    return { monotonic: this.#clock.monotonic(), wall: this.#clock.wall() }
  }

  /**
   * One request with half of the renew deadline as its time, so that a lost connection leaves room for a second try.
   * A leader's request ends with its leadership.
   */
  async #call<T>(request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { renewDeadlineMilliseconds } = this.#options
    const leftMilliseconds = this.#renewedAt ? renewDeadlineMilliseconds - this.#sinceRenewal() : renewDeadlineMilliseconds
    const timeout = new AbortController()
    const abort = () => timeout.abort(new Error('no answer in time'))
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
