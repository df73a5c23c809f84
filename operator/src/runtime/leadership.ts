import type { Controller } from '../controller-runtime/controller.ts'
import type { StartedWork, Work } from './deps.ts'
import type { Term } from './term.ts'

/** The leader's work in each term. */
export interface Leadership {
  /** Controllers of the current term; empty on a standby. */
  readonly controllers: readonly Controller[]
  /** Starts the work. Resolves when the term has ended and all work has stopped. */
  lead: (term: Term) => Promise<void>
}

/** Combines the entries of controllers/all.ts: they start and stop with the term. */
export function createLeadership(parts: readonly Work[]): Leadership {
  let started: StartedWork[] = []
  return {
    get controllers() {
      return started.flatMap(({ controllers }) => controllers)
    },
    async lead(term) {
      const { signal } = term
      started = parts.map((part) => part.start(term))
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      await Promise.all(started.map(({ stop }) => stop()))
      started = []
    },
  }
}
