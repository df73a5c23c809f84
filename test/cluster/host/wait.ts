/** Waits for conditions outside this process. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  timeoutMilliseconds: number
  /** Default: 100 ms, because most waits take about a second. */
  intervalMilliseconds?: number
  /** Called between two checks. A text ends the wait with an error at once, when the condition can no longer become true. */
  findFailure?: () => Promise<string | undefined>
}

/** Resolves to the first result that is neither undefined nor false. @throws Error with the name of the condition */
export async function waitFor<T>(what: string, check: () => Promise<T | undefined | false>, options: WaitOptions): Promise<T> {
  const end = performance.now() + options.timeoutMilliseconds
  for (;;) {
    const result = await check()
    if (result !== undefined && result !== false) return result
    const reason = await options.findFailure?.()
    if (reason) throw new Error(`${what}: ${reason}`)
    if (performance.now() > end) throw new Error(`${what}: timed out after ${Math.round(options.timeoutMilliseconds / 1000)} s`)
    await sleep(options.intervalMilliseconds ?? 100)
  }
}
