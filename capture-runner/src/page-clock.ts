import { raced } from './race.ts'
import type { Tab } from './tab.ts'

// The page's own clock (ADR 34): timers, dates and performance.now of a normal tab, run ahead of real time. Frames, CSS animations and the network stay
// on real time. Once it has been advanced the clock stands still between advances: there is no way back to real time.

/** Milliseconds between two looks at why the clock does not get on. */
const CHECK_MILLISECONDS = 50

/** Whether the page waits for an answer that is worth waiting for. */
export type IsAsking = () => boolean

/** Advances the clock of one page. */
export class PageClock {
  readonly #tab: Pick<Tab, 'session' | 'lifecycle'>
  #onExpired = () => {}

  constructor(tab: Pick<Tab, 'session' | 'lifecycle'>) {
    this.#tab = tab
    tab.session.on('Emulation.virtualTimeBudgetExpired', () => this.#onExpired())
  }

  /**
   * Lets the page live through so many milliseconds at once; the clock stops for requests while `isAsking`.
   * @param until when to give up, on the runner's clock
   * @throws the signal's reason
   */
  async advance(milliseconds: number, isAsking: IsAsking, until: number, signal: AbortSignal): Promise<void> {
    let isStopping = isAsking() || !this.#tab.lifecycle.isStreaming
    let expired = this.#grant(milliseconds, isStopping, signal)
    while (!(await isWithin(CHECK_MILLISECONDS, expired, signal))) {
      if (performance.now() > until) return
      if (!isStopping || isAsking()) continue
      isStopping = false
      expired = this.#grant(milliseconds, isStopping, signal)
    }
  }

  #grant(budget: number, isStopping: boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onExpired = resolve
    const policy = isStopping ? 'pauseIfNetworkFetchesPending' : 'advance'
    const granted = this.#tab.session.send('Emulation.setVirtualTimePolicy', {
      policy,
      budget,
      maxVirtualTimeTaskStarvationCount: STARVATION,
    })
    return raced(
      granted.then(() => promise),
      signal,
    )
  }
}

/** Tasks that may run at one moment of page time: without a limit, an endless chain of messages would stop the clock. */
const STARVATION = 1_000

async function isWithin(milliseconds: number, promise: Promise<void>, signal: AbortSignal): Promise<boolean> {
  const { promise: over, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), milliseconds)
  try {
    return await raced(Promise.race([promise.then(() => true as const), over]), signal)
  } finally {
    clearTimeout(timer)
  }
}
