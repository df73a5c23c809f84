import { setTimeout as sleep } from 'node:timers/promises'
import { CaptureError } from './errors.ts'

/**
 * Waits for `promise`, or throws the signal's reason as soon as it is aborted. Nothing that a page or a browser answers is waited for
 * without it: a hung page answers nothing.
 */
export async function raced<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // Whoever loses the race may still fail later, and no one is there to hear it.
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

/** A signal that ends with `parent`, or by itself after `milliseconds` with the error that `reason` makes. Dispose of it to stop its clock. */
export function bounded(parent: AbortSignal, milliseconds: number, reason: () => Error): { signal: AbortSignal } & Disposable {
  const own = new AbortController()
  const timer = setTimeout(() => own.abort(reason()), milliseconds)
  return { signal: AbortSignal.any([parent, own.signal]), [Symbol.dispose]: () => clearTimeout(timer) }
}

/** Milliseconds that a page may take to answer what should take it a few. */
const ANSWER_MILLISECONDS = 30_000

/** Waits for the answer to one command. @throws the signal's reason; CaptureError TIMEOUT for a page that is too busy to answer */
export async function answered<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: deaf, reject } = Promise.withResolvers<never>()
  const late = () => reject(new CaptureError('TIMEOUT', `the page did not answer within ${ANSWER_MILLISECONDS} ms`))
  const timer = setTimeout(late, ANSWER_MILLISECONDS)
  try {
    return await raced(Promise.race([answer, deaf]), signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Sleeps on the runner's clock, never the page's. @throws the signal's reason */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted())
}
