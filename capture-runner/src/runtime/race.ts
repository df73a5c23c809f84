import { setTimeout as sleep } from 'node:timers/promises'
import { CaptureError } from './errors.ts'

/**
 * Waits for `promise`, but throws the signal's reason as soon as it is aborted. Every wait for a page or a browser uses it, because a hung page never
 * responds.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // The promise may still reject after the abort, when there is no other handler.
  promise.catch(() => {})
  signal.throwIfAborted()
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** Whether the promise is fulfilled within this time. @throws its error; the signal's reason */
export async function isWithin(milliseconds: number, promise: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), milliseconds)
  try {
    return await abortable(Promise.race([promise.then(() => true as const), over]), signal)
  } finally {
    clearTimeout(timer)
  }
}

/** A signal that aborts with `parent`, or after `milliseconds` with the error that `reason` creates. Dispose it to clear the timer. */
export function bounded(parent: AbortSignal, milliseconds: number, reason: () => Error): { signal: AbortSignal } & Disposable {
  const own = new AbortController()
  const timer = setTimeout(() => own.abort(reason()), milliseconds)
  return { signal: AbortSignal.any([parent, own.signal]), [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Time limit for a DevTools command that usually takes a few milliseconds. */
const RESPONSE_MILLISECONDS = 30_000

/** Waits for the response to one command. @throws the signal's reason; CaptureError TIMEOUT if the page is too busy to respond */
export async function awaitResponse<T>(response: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  const late = () => reject(new CaptureError('TIMEOUT', `the page did not respond within ${RESPONSE_MILLISECONDS} ms`))
  const timer = setTimeout(late, RESPONSE_MILLISECONDS)
  try {
    return await abortable(Promise.race([response, timedOut]), signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Waits in real time, not page time. @throws the signal's reason */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
}
