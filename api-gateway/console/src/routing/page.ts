import type { FunctionComponent } from 'preact'
import type { Session } from '../api/client.ts'

export interface PageProps {
  session: Session
  /** Parts of the path after the page's own. */
  parts: readonly string[]
  query: URLSearchParams
}

/** A page of the console. */
export type Page = FunctionComponent<PageProps>
