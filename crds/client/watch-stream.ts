import { KubeError, type StatusBody } from './kube-error.ts'
import type { KubeObject } from './kube-object.ts'

/** One line of a watch. A bookmark contains only a resourceVersion. */
export type WatchEvent<T extends KubeObject> = { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }

/** A line of a watch is not an event. Its content is lost, so the watch must restart from the last valid line. */
export class MalformedWatchError extends Error {
  override readonly name = 'MalformedWatchError'
}

const EVENT_TYPES = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'])

/**
 * Reads the events of a watch, one batch per chunk of the body. Drops an incomplete last line, because the next watch repeats it.
 * @throws KubeError for an ERROR event (410 if the resourceVersion has expired), MalformedWatchError for any other line that is not an event
 */
export async function* readWatchEvents<T extends KubeObject>(body: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent<T>[]> {
  const decoder = new TextDecoder()
  let unfinished: string[] = []
  for await (const chunk of body) {
    const lines = decoder.decode(chunk, { stream: true }).split('\n')
    const rest = lines.pop() ?? ''
    if (lines.length > 0) {
      lines[0] = unfinished.join('') + lines[0]
      unfinished = []
    }
    unfinished.push(rest)
    yield* parseLines<T>(lines)
  }
}

/** Yields the valid events before an invalid line, and then throws the error. */
function* parseLines<T extends KubeObject>(lines: readonly string[]): Generator<WatchEvent<T>[]> {
  const events: WatchEvent<T>[] = []
  let failure: Error | undefined
  for (const line of lines) {
    if (line.trim() === '') continue
    const event = parseLine<T>(line)
    if (event instanceof Error) {
      failure = event
      break
    }
    events.push(event)
  }
  yield events
  if (failure) throw failure
}

function parseLine<T extends KubeObject>(line: string): WatchEvent<T> | Error {
  let event: { type?: unknown; object?: unknown }
  try {
    event = JSON.parse(line)
  } catch (cause) {
    return new MalformedWatchError(`not JSON: ${line.slice(0, 100)}`, { cause })
  }
  if (event?.type === 'ERROR') return toWatchError(event.object as StatusBody | undefined)
  const version = (event?.object as Partial<KubeObject> | undefined)?.metadata?.resourceVersion
  if (!EVENT_TYPES.has(String(event?.type)) || version === undefined)
    return new MalformedWatchError(`not a watch event: ${line.slice(0, 100)}`)
  return event as WatchEvent<T>
}

function toWatchError(status: StatusBody | undefined): KubeError {
  return new KubeError({
    status: status?.code ?? 500,
    reason: status?.reason ?? 'Unknown',
    message: `the watch ended: ${status?.message ?? 'no reason given'}`,
    retryAfterSeconds: status?.details?.retryAfterSeconds,
    details: status?.details,
  })
}

/** Limits of the waits between attempts, in milliseconds. */
type BackoffOptions = { base: number; cap: number; random?: () => number }

/**
 * Backoff with decorrelated jitter: each wait is a random time between the base and three times the previous wait, at most the cap.
 * The first wait is a fraction of the base, because most failures are a single connection reset and each wait delays users.
 */
export class Backoff {
  readonly #base: number
  readonly #cap: number
  readonly #random: () => number
  #last = 0

  constructor({ base, cap, random = Math.random }: BackoffOptions) {
    this.#base = base
    this.#cap = cap
    this.#random = random
  }

  /** The next wait. */
  next(): number {
    const [low, high] = this.#last === 0 ? [this.#base / 8, this.#base / 2] : [this.#base, Math.max(this.#base, this.#last * 3)]
    this.#last = Math.min(this.#cap, low + this.#random() * (high - low))
    return this.#last
  }

  /** Call after a success, so that the next wait is short again. */
  reset(): void {
    this.#last = 0
  }
}
