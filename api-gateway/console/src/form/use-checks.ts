import { useEffect, useState } from 'preact/hooks'
import type { FindProblems } from './request.ts'

let loaded: FindProblems | undefined

/** The checks of the form, which load when they are wanted first. Undefined until then. The API checks requests in any case. */
export function useChecks(isWanted: boolean): FindProblems | undefined {
  const [, setReady] = useState(loaded !== undefined)
  useEffect(() => {
    if (!isWanted || loaded) return
    import('./checks.ts').then(
      ({ findProblems }) => {
        loaded = findProblems
        setReady(true)
      },
      () => {},
    )
  }, [isWanted])
  return loaded
}
