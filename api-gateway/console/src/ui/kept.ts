import { useEffect, useState } from 'preact/hooks'

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
