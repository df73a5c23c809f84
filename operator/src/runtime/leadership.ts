import type { Controller } from '../controller-runtime/controller.ts'
import type { StartedWork, Work } from './deps.ts'

/** The leader's work in each term. */
export interface Leadership {
  /** Controllers of the current term; empty on a standby. */
  readonly controllers: readonly Controller[]
  /** Starts the work. Resolves when the signal was aborted and all work has stopped. */
  lead: (signal: AbortSignal) => Promise<void>
}

/** Combines the entries of controllers/all.ts: they start and stop with the term. */
export function createLeadership(parts: readonly Work[]): Leadership {
  let started: StartedWork[] = []
  return {
    get controllers() {
      return started.flatMap(({ controllers }) => controllers)
    },
    async lead(signal) {
      started = parts.map((part) => part.start(signal))
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await Promise.all(started.map(({ stop }) => stop()))
      started = []
    },
  }
}
