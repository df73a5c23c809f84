import { ESTIMATED_TIME } from '@tintype/crds/record'

// What the length of the queue means to a new request: whether there is room, which place it would get, and how long that may take. Pure.

/** Screenshots that may wait. */
export interface QueueBounds {
  /** In all. */
  maxQueued: number
  /** Of one account. */
  maxQueuedPerAccount: number
}

/** How many wait. */
export interface QueueLength {
  total: number
  /** Of the account that asks. */
  own: number
}

/** What is known of the queue and of those who work it off. */
export interface QueueFacts {
  /** Of the account that asks, before what it asks for. */
  own: number
  weight: number
  /** Captures of the account at a time; absent: no ceiling. */
  maxRunning?: number | undefined
  /** Other accounts that have something waiting. */
  others: readonly { waiting: number; weight: number }[]
  /** Captures under way. */
  running: number
  /** Absent until one has been measured. */
  meanCaptureMilliseconds: number | undefined
}

/** Part of the queue that is kept for small accounts, and what small is. */
const KEPT = 1 / 10
const SMALL = 10

/** Why so many more must not wait; undefined when there is room for all of them. */
export function findQueueFullReason(
  count: number,
  { total, own }: QueueLength,
  { maxQueued, maxQueuedPerAccount }: QueueBounds,
): string | undefined {
  if (own + count > maxQueuedPerAccount)
    return `${own} screenshots of the account wait already, and no more than ${maxQueuedPerAccount} may`
  const isSmall = own + count <= SMALL
  const open = isSmall ? maxQueued : maxQueued - Math.ceil(maxQueued * KEPT)
  return total + count > open ? 'too many screenshots are waiting' : undefined
}

/**
 * The place of a screenshot that so many of its own account are ahead of; 1 is next. By then each other account has had its turns, as many
 * as its weight allows (start-time fair queueing in the operator).
 */
export function queuePosition(ownAhead: number, { others, weight }: Pick<QueueFacts, 'others' | 'weight'>): number {
  const turns = ({ waiting, weight: theirs }: QueueFacts['others'][number]) =>
    Math.min(waiting, Math.ceil(((ownAhead + 1) * theirs) / weight))
  return others.reduce((sum, other) => sum + turns(other), ownAhead + 1)
}

const MAX_SECONDS = 86_400
/** The estimate is given from half to twice of itself: pages differ. */
const SPREAD = 2

/** Seconds until a screenshot ends that so many of its own account are ahead of, by the captures under way and the time that they take. */
function secondsUntilEnd(ownAhead: number, facts: QueueFacts, meanCaptureMilliseconds: number): number {
  const { running, maxRunning = Number.POSITIVE_INFINITY } = facts
  const turns = (queuePosition(ownAhead, facts) - 1) / Math.max(1, running)
  const ownTurns = ownAhead / maxRunning
  return ((Math.max(turns, ownTurns) + 1) * meanCaptureMilliseconds) / 1_000
}

/** The range text of spec 2.1 for so many screenshots that are asked for together: from the first one's end to the last one's. */
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

/** Seconds in which room for so many may come, at the speed of now. */
export function retrySeconds(count: number, { running, meanCaptureMilliseconds }: QueueFacts): number {
  if (meanCaptureMilliseconds === undefined) return DEFAULT_RETRY_SECONDS
  const seconds = Math.ceil((count * meanCaptureMilliseconds) / Math.max(1, running) / 1_000)
  return Math.min(MAX_RETRY_SECONDS, Math.max(1, seconds))
}
