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
  { path: 'screenshots', title: 'Screenshots', scope: 'screenshots:read', load: () => import('../pages/screenshots.tsx') },
  { path: 'videos', title: 'Videos', scope: 'screenshots:read', load: () => import('../pages/videos.tsx') },
  { path: 'schedules', title: 'Schedules', scope: 'schedules:read', load: () => import('../pages/schedules.tsx') },
  { path: 'webhooks', title: 'Webhooks', scope: 'webhooks:read', load: () => import('../pages/webhooks.tsx') },
  { path: 'keys', title: 'Keys', scope: 'keys:read', load: () => import('../pages/keys.tsx') },
  { path: 'usage', title: 'Usage', scope: 'usage:read', load: () => import('../pages/usage.tsx') },
  { path: 'system', title: 'System', scope: 'admin:read', load: () => import('../pages/system.tsx') },
]
