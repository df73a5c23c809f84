// Restores what a run has changed, also when the run is interrupted.

import type { Ends } from '../../support/processes/own-plane.ts'

const undos = new Set<() => Promise<unknown>>()

/** On interruption, undoes all changes in reverse order. */
export function undoOnSignal(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, async () => {
      for (const undo of [...undos].reverse()) await undo().catch((error: unknown) => console.error(error))
      process.exit(1)
    })
  }
}

/** Calls `act` with a stack of cleanup functions, like tap's teardown. Afterwards they run in reverse order, also after an error or a signal. */
export async function withEnds<T>(act: (ends: Ends) => Promise<T>): Promise<T> {
  const cleanups: (() => unknown)[] = []
  const teardown = (cleanup: () => unknown) => void cleanups.push(cleanup)
  const endAll = async () => {
    for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop())
      await Promise.resolve()
        .then(cleanup)
        .catch((error: unknown) => console.error(error))
  }
  undos.add(endAll)
  try {
    return await act({ teardown: teardown as Ends['teardown'] })
  } finally {
    undos.delete(endAll)
    await endAll()
  }
}
