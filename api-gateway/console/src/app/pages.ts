import Keys from '../pages/keys.tsx'
import Playground from '../pages/playground.tsx'
import Schedules from '../pages/schedules.tsx'
import { Screenshots, Videos } from '../pages/screenshots-and-videos.tsx'
import System from '../pages/system.tsx'
import Usage from '../pages/usage.tsx'
import Webhooks from '../pages/webhooks.tsx'
import type { Page } from '../routing/page.ts'

// The pages of the console. A page is one file and one row here. All pages are in one script, because they are small and each
// further script would cost a round trip. What is large loads on demand: the checks of the form, and the code of cron expressions.

export interface PageEntry {
  path: string
  title: string
  /** Scope without which the page is not in the menu. */
  scope: string
  page: Page
}

export const pages: readonly PageEntry[] = [
  { path: 'playground', title: 'Playground', scope: 'screenshots:write', page: Playground },
  { path: 'screenshots', title: 'Screenshots', scope: 'screenshots:read', page: Screenshots },
  { path: 'videos', title: 'Videos', scope: 'screenshots:read', page: Videos },
  { path: 'schedules', title: 'Schedules', scope: 'schedules:read', page: Schedules },
  { path: 'webhooks', title: 'Webhooks', scope: 'webhooks:read', page: Webhooks },
  { path: 'keys', title: 'Keys', scope: 'keys:read', page: Keys },
  { path: 'usage', title: 'Usage', scope: 'usage:read', page: Usage },
  { path: 'system', title: 'System', scope: 'admin:read', page: System },
]
