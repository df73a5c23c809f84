import type { Page } from '../routing/page.ts'

// The pages of the console. A page is one file with a default export and one row here.

export interface PageEntry {
  path: string
  title: string
  /** Scope without which the page is not in the menu. */
  scope: string
  load: () => Promise<{ default: Page }>
}

export const pages: readonly PageEntry[] = [
  { path: 'playground', title: 'Playground', scope: 'screenshots:write', load: () => import('../pages/playground.tsx') },
]
