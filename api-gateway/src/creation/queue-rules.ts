import { ESTIMATED_TIME } from '@tintype/crds/records/record'

// Pure functions for queue limits, queue positions and estimated times.

/** Maximum queued screenshots. */
export interface QueueBounds {
  /** In total. */
  maxQueued: number
  /** Per account. */
  maxQueuedPerAccount: number
}

/** Queued screenshots. */
export interface QueueLength {
  total: number
  /** Of the requesting account. */
  own: number
}

/** State of the queue and of the running captures. */
export interface QueueFacts {
  /** Queued screenshots of the requesting account, without the new ones. */
  own: number
  weight: number
  /** Maximum concurrent captures of the account. Absent: no limit. */
  maxRunning?: number | undefined
  /** Other accounts with queued screenshots. */
  others: readonly { waiting: number; weight: number }[]
  /** Running captures. */
  running: number
  /** Undefined until a capture has been measured. */
  meanCaptureMilliseconds: number | undefined
}

/** Fraction of the queue that is reserved for accounts with at most `MAX_SMALL_QUEUE` queued screenshots. */
const RESERVED_FRACTION = 1 / 10
const MAX_SMALL_QUEUE = 10

/** Why `count` more screenshots cannot be queued. Undefined when there is room for all of them. */
export function findQueueFullReason(
  count: number,
  { total, own }: QueueLength,
  { maxQueued, maxQueuedPerAccount }: QueueBounds,
): string | undefined {
  if (own + count > maxQueuedPerAccount)
    return `${own} screenshots of the account are queued, and its limit is ${maxQueuedPerAccount}: retry later`
  const isSmall = own + count <= MAX_SMALL_QUEUE
  const open = isSmall ? maxQueued : maxQueued - Math.ceil(maxQueued * RESERVED_FRACTION)
  return total + count > open ? 'the queue is full: retry later' : undefined
}

/**
 * Queue position of a screenshot, 1 for the next one, under the operator's weighted fair queueing. Every other account is served in proportion to
 * its weight before it.
 */
export function queuePosition(ownAhead: number, { others, weight }: Pick<QueueFacts, 'others' | 'weight'>): number {
  const servedBefore = ({ waiting, weight: theirs }: QueueFacts['others'][number]) =>
    Math.min(waiting, Math.ceil(((ownAhead + 1) * theirs) / weight))
  return others.reduce((sum, other) => sum + servedBefore(other), ownAhead + 1)
}

const MAX_SECONDS = 86_400
/** The range goes from half to twice the estimate, because pages differ. */
const SPREAD = 2

/** Seconds until a screenshot finishes, from the running captures and their mean duration. */
function secondsUntilEnd(ownAhead: number, facts: QueueFacts, meanCaptureMilliseconds: number): number {
  const { running, maxRunning = Number.POSITIVE_INFINITY } = facts
  const rounds = (queuePosition(ownAhead, facts) - 1) / Math.max(1, running)
  const ownRounds = ownAhead / maxRunning
  return ((Math.max(rounds, ownRounds) + 1) * meanCaptureMilliseconds) / 1_000
}

/** Estimated time for `count` screenshots of one request, from the end of the first to the end of the last, such as `10-60s`. */
export function toEstimatedTime(count: number, facts: QueueFacts): string {
  const { own, meanCaptureMilliseconds } = facts
  if (meanCaptureMilliseconds === undefined) return ESTIMATED_TIME
  const least = Math.floor(secondsUntilEnd(own, facts, meanCaptureMilliseconds) / SPREAD)
  const most = Math.ceil(secondsUntilEnd(own + count - 1, facts, meanCaptureMilliseconds) * SPREAD)
  const from = Math.min(MAX_SECONDS, Math.max(1, least))
  return `${from}-${Math.max(from + 1, Math.min(MAX_SECONDS, most))}s`
}

const DEFAULT_RETRY_SECONDS = 10
const MAX_RETRY_SECONDS = 60

/** Seconds until `count` slots may be free, at the current speed. */
export function retrySeconds(count: number, { running, meanCaptureMilliseconds }: QueueFacts): number {
  if (meanCaptureMilliseconds === undefined) return DEFAULT_RETRY_SECONDS
  const seconds = Math.ceil((count * meanCaptureMilliseconds) / Math.max(1, running) / 1_000)
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, seconds))
}
