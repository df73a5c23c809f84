import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ErrorNote } from './notes.tsx'

/** A component that loads when it is drawn first. */
export function lazy<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  let loaded: FunctionComponent<Props> | undefined
  return function Lazy(props: Props) {
    const [error, setError] = useState<unknown>()
    const [, setReady] = useState(loaded !== undefined)
    useEffect(() => {
      if (loaded) return
      load().then((component) => {
        loaded = component
        setReady(true)
      }, setError)
    }, [])
    const Loaded = loaded
    if (Loaded) return <Loaded {...props} />
    return <ErrorNote error={error} />
  }
}
