/** Waiting for something outside this process to become true. */
import { setTimeout as sleep } from 'node:timers/promises'

export interface WaitOptions {
  timeoutMilliseconds: number
  /** Asked often, as what is waited for takes about a second. */
  intervalMilliseconds?: number
  /** Looked at between two tries: a text ends the wait at once, as what is waited for cannot come any more. */
  givenUp?: () => Promise<string | undefined>
}

/** Resolves to the first defined answer. @throws Error that names what did not happen. */
export async function waitFor<T>(what: string, ask: () => Promise<T | undefined | false>, options: WaitOptions): Promise<T> {
  const end = performance.now() + options.timeoutMilliseconds
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    const reason = await options.givenUp?.()
    if (reason) throw new Error(`${what}: ${reason}`)
    if (performance.now() > end) throw new Error(`${what}: nothing after ${Math.round(options.timeoutMilliseconds / 1000)} s`)
    await sleep(options.intervalMilliseconds ?? 100)
  }
}
