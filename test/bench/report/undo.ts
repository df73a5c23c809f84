// What a run has changed in the cluster and must put back, also when it is interrupted.

const undos = new Set<() => Promise<unknown>>()

/** Runs `act`, then `undo`, whether it went well or not, or the run was ended by a signal. */
export async function undoing<T>(undo: () => Promise<unknown>, act: () => Promise<T>): Promise<T> {
  undos.add(undo)
  try {
    return await act()
  } finally {
    undos.delete(undo)
    await undo()
  }
}

/** Puts everything back when the run is interrupted, the last change first. */
export function undoOnSignal(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, async () => {
      for (const undo of [...undos].reverse()) await undo().catch((error: unknown) => console.error(error))
      process.exit(1)
    })
  }
}
