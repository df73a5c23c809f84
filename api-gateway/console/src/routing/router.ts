import type { FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Session } from '../api/client.ts'
import { type Location, parseLocation } from './location.ts'

export function useLocation(): Location {
  const [hash, setHash] = useState(window.location.hash)
  useEffect(() => {
    const update = () => setHash(window.location.hash)
    addEventListener('hashchange', update)
    // The fragment may have changed since the first drawing.
    update()
    return () => removeEventListener('hashchange', update)
  }, [])
  return parseLocation(hash)
}

export const navigate = (path: string): void => {
  window.location.hash = `#/${path}`
}

interface PageProps {
  session: Session
  /** Parts of the path after the page's own. */
  parts: readonly string[]
  query: URLSearchParams
}

/** A page of the console. */
export type Page = FunctionComponent<PageProps>
