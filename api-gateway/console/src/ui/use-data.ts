import { useCallback, useEffect, useState } from 'preact/hooks'

/** Data of a page, which can be read again. */
export interface Data<T> {
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
