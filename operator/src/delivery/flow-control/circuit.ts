// One endpoint's circuit breaker. Pure. An endpoint at which most posts fail gets a pause, then one post as a probe. The pause
// only delays the start of attempts, none for more than 30 s, and burns none: what is held back is neither recorded nor counted.

/** Posts of one stretch of time. */
interface Slot {
  /** When it began, in milliseconds. */
  from: number
  posts: number
  failures: number
}

/** What is remembered of an endpoint. Times are milliseconds. */
export interface Circuit {
  /** The last five minutes, oldest first. */
  slots: readonly Slot[]
  /** Set while it is open; from then on one post is let through as a probe. */
  openUntil?: number
  isProbing?: boolean
}

/** It opens at this share of failures … */
const FAILURE_SHARE = 0.7
/** … of at least so many posts … */
const MIN_POSTS = 10
/** … within this time. */
const WINDOW_MILLISECONDS = 300_000
const SLOT_MILLISECONDS = 10_000
/** How long it stays open, and the most that it delays an attempt. */
export const PAUSE_MILLISECONDS = 30_000

export const CLOSED: Circuit = { slots: [] }

/** A post starts. */
export const withStart = (circuit: Circuit, now: number): Circuit =>
  circuit.openUntil !== undefined && now >= circuit.openUntil ? { ...circuit, isProbing: true } : circuit

/** A post has ended; `undefined` when it was given up before it left. */
export function withEnd(circuit: Circuit, isSuccess: boolean | undefined, now: number): Circuit {
  const { openUntil, isProbing: _, ...rest } = circuit
  const kept = openUntil === undefined ? rest : { ...rest, openUntil }
  if (isSuccess === undefined) return kept
  if (openUntil !== undefined && now >= openUntil) return isSuccess ? CLOSED : { ...rest, openUntil: now + PAUSE_MILLISECONDS }
  const slots = addPost(circuit.slots, isSuccess, now)
  if (openUntil !== undefined) return { ...circuit, slots }
  return isFailing(slots) ? { slots, openUntil: now + PAUSE_MILLISECONDS } : { slots }
}

/** Until when an attempt that was due at `dueAt` waits; undefined when it may start. */
export function heldUntil({ openUntil, isProbing }: Circuit, dueAt: number, now: number): number | undefined {
  const latest = dueAt + PAUSE_MILLISECONDS
  if (openUntil === undefined || latest <= now) return undefined
  if (now < openUntil) return Math.min(openUntil, latest)
  return isProbing ? latest : undefined
}

/** True when there is nothing worth remembering. */
export const isForgettable = ({ slots, openUntil }: Circuit, now: number): boolean =>
  openUntil === undefined ? recent(slots, now).length === 0 : now >= openUntil + WINDOW_MILLISECONDS

const recent = (slots: readonly Slot[], now: number): Slot[] => slots.filter(({ from }) => now - from < WINDOW_MILLISECONDS)

function addPost(slots: readonly Slot[], isSuccess: boolean, now: number): Slot[] {
  const from = now - (now % SLOT_MILLISECONDS)
  const others = recent(slots, now)
  const current = others.at(-1)?.from === from ? others.pop() : undefined
  const { posts, failures } = current ?? { posts: 0, failures: 0 }
  return [...others, { from, posts: posts + 1, failures: failures + (isSuccess ? 0 : 1) }]
}

function isFailing(slots: readonly Slot[]): boolean {
  const posts = slots.reduce((sum, slot) => sum + slot.posts, 0)
  const failures = slots.reduce((sum, slot) => sum + slot.failures, 0)
  return posts >= MIN_POSTS && failures >= FAILURE_SHARE * posts
}
