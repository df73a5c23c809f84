import { useCallback, useEffect, useState } from 'preact/hooks'

/** Data of a page, which can be read again. */
interface Data<T> {
  value?: T
  error?: unknown
  reload: () => Promise<void>
}

/**
 * Reads data when a part appears, and again in an interval if one is given. `key` names what is read.
 * @param everyMilliseconds 0: only once
 */
export function useData<T>(key: string, read: () => Promise<T>, everyMilliseconds = 0): Data<T> {
  const [state, setState] = useState<{ key: string; value?: T; error?: unknown }>({ key })
  const reload = useCallback(
    () =>
      read().then(
        (value) => setState({ key, value }),
        (error: unknown) => setState((before) => (before.key === key ? { ...before, error } : { key, error })),
      ),
    [key],
  )
  useEffect(() => {
    void reload()
    if (everyMilliseconds === 0) return undefined
    const timer = setInterval(() => document.hidden || void reload(), everyMilliseconds)
    return () => clearInterval(timer)
  }, [reload, everyMilliseconds])
  return state.key === key ? { ...state, reload } : { reload }
}

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

// What a page keeps while another page is shown. It is in memory only, and ends with the session.

const kept = new Map<string, unknown>()
const listeners = new Map<string, () => void>()

export const keep = (key: string, value: unknown): void => {
  kept.set(key, value)
}

export const recall = <T>(key: string): T | undefined => kept.get(key) as T | undefined

export const forget = (key: string): void => {
  kept.delete(key)
}

/** Forgets everything. Call it when a session begins or ends. */
export const forgetAll = (): void => kept.clear()

/** State that is kept while another page is shown. Work that goes on meanwhile can still change it. */
export function useKept<T>(key: string, initial: () => T): [T, (change: (before: T) => T) => void] {
  const [, redraw] = useState(0)
  if (!kept.has(key)) kept.set(key, initial())
  useEffect(() => {
    const listener = () => redraw((count) => count + 1)
    listeners.set(key, listener)
    return () => {
      if (listeners.get(key) === listener) listeners.delete(key)
    }
  }, [key])
  const change = (next: (before: T) => T): void => {
    // After the end of the session, nothing is kept.
    if (!kept.has(key)) return
    kept.set(key, next(kept.get(key) as T))
    listeners.get(key)?.()
  }
  return [kept.get(key) as T, change]
}
