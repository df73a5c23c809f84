// Restores what a run has changed in the cluster, also when the run is interrupted.

const undos = new Set<() => Promise<unknown>>()

/** Runs `act`, then `undo`, also after an error or a signal. */
export async function undoing<T>(undo: () => Promise<unknown>, act: () => Promise<T>): Promise<T> {
  undos.add(undo)
  try {
    return await act()
  } finally {
    undos.delete(undo)
    await undo()
  }
}

/** On interruption, undoes all changes in reverse order. */
export function undoOnSignal(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, async () => {
      for (const undo of [...undos].reverse()) await undo().catch((error: unknown) => console.error(error))
      process.exit(1)
    })
  }
}
