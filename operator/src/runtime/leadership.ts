import type { Controller } from '../controller/controller.ts'
import type { StartedWork, Work } from './deps.ts'

/** What a leader does, term by term. */
export interface Leadership {
  /** Controllers of the current term: none on a standby. */
  readonly controllers: readonly Controller[]
  /** Does the work until the signal ends and all of it has stopped. */
  lead: (signal: AbortSignal) => Promise<void>
}

/** Binds the parts of the operator together: they start and stop with the term. */
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
