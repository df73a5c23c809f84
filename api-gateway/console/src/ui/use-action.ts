import { useState } from 'preact/hooks'

/** Runs the actions of a page, and has the error of the last one. */
export function useAction() {
  const [problem, setProblem] = useState<unknown>()
  /** Resolves to whether the action succeeded. */
  const act = async (action: () => Promise<unknown>): Promise<boolean> => {
    setProblem(undefined)
    try {
      await action()
      return true
    } catch (failure) {
      setProblem(failure)
      return false
    }
  }
  return { problem, act }
}
