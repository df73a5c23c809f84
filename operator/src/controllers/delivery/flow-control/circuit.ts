// Circuit breaker of one endpoint. Pure. When most posts to an endpoint fail, it is paused; then one post is sent as a probe. The pause delays
// the start of an attempt by 30 s at most and never uses up an attempt: a delayed attempt is neither recorded nor counted.

/** Posts of one time slot. */
interface Slot {
  /** Start of the slot in milliseconds. */
  from: number
  posts: number
  failures: number
}

/** State of an endpoint. Times are milliseconds. */
export interface Circuit {
  /** Slots of the last five minutes, oldest first. */
  slots: readonly Slot[]
  /** Set while the circuit is open. From this time on one post is sent as a probe. */
  openUntil?: number
  isProbing?: boolean
}

/** The circuit opens at this ratio of failures … */
const FAILURE_SHARE = 0.7
/** … of at least so many posts … */
const MIN_POSTS = 10
/** … within this time. */
const WINDOW_MILLISECONDS = 300_000
const SLOT_MILLISECONDS = 10_000
/** How long it stays open, and the maximum delay of an attempt. */
export const PAUSE_MILLISECONDS = 30_000

export const CLOSED: Circuit = { slots: [] }

/** State after a post started. */
export const withStart = (circuit: Circuit, now: number): Circuit =>
  circuit.openUntil !== undefined && now >= circuit.openUntil ? { ...circuit, isProbing: true } : circuit

/** State after a post ended. `isSuccess` is undefined when the post was not sent. */
export function withEnd(circuit: Circuit, isSuccess: boolean | undefined, now: number): Circuit {
  const { openUntil, isProbing: _, ...rest } = circuit
  const kept = openUntil === undefined ? rest : { ...rest, openUntil }
  if (isSuccess === undefined) return kept
  if (openUntil !== undefined && now >= openUntil) return isSuccess ? CLOSED : { ...rest, openUntil: now + PAUSE_MILLISECONDS }
  const slots = addPost(circuit.slots, isSuccess, now)
  if (openUntil !== undefined) return { ...circuit, slots }
  return isFailing(slots) ? { slots, openUntil: now + PAUSE_MILLISECONDS } : { slots }
}

/** Time until which an attempt that was due at `dueAt` is delayed; undefined when it may start. */
export function heldUntil({ openUntil, isProbing }: Circuit, dueAt: number, now: number): number | undefined {
  const latest = dueAt + PAUSE_MILLISECONDS
  if (openUntil === undefined || latest <= now) return undefined
  if (now < openUntil) return Math.min(openUntil, latest)
  return isProbing ? latest : undefined
}

/** True when the state equals that of a new endpoint. */
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
