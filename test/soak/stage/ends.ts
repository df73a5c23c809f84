import type { Ends } from '../../support/processes/own-plane.ts'

/** A pile of what must be undone, the last first: what tests know as teardown, for runs that are no tap tests. */
export interface Pile extends Ends {
  endAll: () => Promise<void>
}

/** An empty pile. */
export function newPile(): Pile {
  const undos: (() => unknown)[] = []
  const teardown = (undo: () => unknown) => {
    undos.push(undo)
  }
  const endAll = async () => {
    for (let undo = undos.pop(); undo; undo = undos.pop())
      await Promise.resolve()
        .then(undo)
        .catch((error: unknown) => console.error(error))
  }
  return { teardown: teardown as Ends['teardown'], endAll }
}
