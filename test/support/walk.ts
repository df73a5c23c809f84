// Explores a model: every state that its steps reach, in any order. A state is plain JSON, so that equal states are visited once.

/** What may happen next, and the state after it. */
export type Step<State> = readonly [name: string, after: State]

interface Model<State> {
  start: State
  stepsOf: (state: State) => Step<State>[]
  /** What is wrong with a state; `steps` are the next ones. */
  findFault: (state: State, steps: readonly Step<State>[]) => string | undefined
}

export interface Walk {
  /** Number of states. */
  states: number
  /** A state that is wrong, with the shortest way to it. */
  fault?: { what: string; path: string[] }
}

/** Far more than a test can visit in its time. */
const MAX_STATES = 1_000_000

/** Visits all states, and ends at the first wrong one. @throws Error if there are too many */
export function walk<State>({ start, stepsOf, findFault }: Model<State>): Walk {
  const seen = new Set([JSON.stringify(start)])
  const queue: { state: State; name?: string; from?: number }[] = [{ state: start }]
  for (let index = 0; index < queue.length; index++) {
    const { state } = queue[index]!
    const steps = stepsOf(state)
    const what = findFault(state, steps)
    if (what !== undefined) return { states: seen.size, fault: { what, path: pathTo(index) } }
    for (const [name, after] of steps) {
      const key = JSON.stringify(after)
      if (seen.has(key)) continue
      if (seen.size === MAX_STATES) throw new Error(`the model has more than ${MAX_STATES} states`)
      seen.add(key)
      queue.push({ state: after, name, from: index })
    }
  }
  return { states: seen.size }

  function pathTo(end: number): string[] {
    const path: string[] = []
    for (let at: number | undefined = end; at !== undefined; at = queue[at]?.from) path.unshift(queue[at]?.name ?? 'start')
    return path
  }
}
