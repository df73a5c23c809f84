import type { Ends } from '../../support/processes/own-plane.ts'

/** A stack of cleanup functions, run in reverse order, like tap's teardown for runs without tap. */
export interface CleanupStack extends Ends {
  endAll: () => Promise<void>
}

/** Creates an empty stack. */
export function newCleanupStack(): CleanupStack {
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
