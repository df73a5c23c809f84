import { useEffect, useRef } from 'preact/hooks'
import { hasScope, type Session, signOut } from '../api/client.ts'
import Keys from '../pages/keys.tsx'
import Playground from '../pages/playground.tsx'
import Schedules from '../pages/schedules.tsx'
import { Screenshots, Videos } from '../pages/screenshots-and-videos.tsx'
import System from '../pages/system.tsx'
import Usage from '../pages/usage.tsx'
import Webhooks from '../pages/webhooks.tsx'
import { type Page, useLocation } from '../routing/router.ts'
import { forget } from '../ui/use-data.ts'

const NO_ACCESS: PageEntry = {
  path: '',
  title: 'No access',
  scope: '',
  page: () => <p class="empty">Your API key has no scope for this page of the console.</p>,
}

const NOT_FOUND: PageEntry = {
  path: '',
  title: 'Page not found',
  scope: '',
  page: () => <p class="empty">The console has no page with this URL. Choose one in the menu.</p>,
}

/** The page of a path. Without a path, the first one. */
function findPage(path: string | undefined, visible: readonly PageEntry[]): PageEntry {
  if (path === undefined) return visible[0] ?? NO_ACCESS
  const found = pages.find((entry) => entry.path === path)
  return found ? (visible.find((entry) => entry === found) ?? NO_ACCESS) : NOT_FOUND
}

/** Menu and page of a signed-in user. */
export function Shell({ session, onSignedOut }: { session: Session; onSignedOut: () => void }) {
  const { parts, query } = useLocation()
  const visible = pages.filter(({ scope }) => hasScope(session, scope))
  const entry = findPage(parts[0], visible)
  const { page: Current } = entry
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${entry.title} · Tintype`
  }, [entry.path])
  useEffect(() => {
    // Screen readers announce the new page. The first one keeps the focus of the browser.
    if (!isFirst.current) {
      heading.current?.focus({ preventScroll: true })
      scrollTo({ top: 0 })
    }
    isFirst.current = false
  }, [parts.join('/')])
  const leave = async () => {
    await signOut().catch(() => {})
    onSignedOut()
  }
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="side">
        <a class="brand" href={`#/${visible[0]?.path ?? ''}`}>
          <span class="mark" aria-hidden="true">
            T
          </span>
          Tintype
        </a>
        <nav aria-label="Pages">
          {visible.map(({ path, title }) => (
            <a key={path} href={`#/${path}`} aria-current={path === entry.path ? 'page' : undefined} onClick={() => forget(`${path}?`)}>
              {title}
            </a>
          ))}
        </nav>
        <div class="identity">
          <div class="who">
            <strong>{session.account}</strong>
            <span>{session.key.name}</span>
          </div>
          <a href="docs">API reference</a>
          <button type="button" class="plain" onClick={leave}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <h1 ref={heading} tabIndex={-1} class={parts.length > 1 ? 'sr' : ''}>
          {entry.title}
        </h1>
        <Current session={session} parts={parts.slice(1)} query={query} />
      </main>
    </div>
  )
}

// The pages of the console. A page is one file and one row here. All pages are in one script, because they are small and each
// further script would cost a round trip. What is large loads on demand: the checks of the form, and the code of cron expressions.

interface PageEntry {
  path: string
  title: string
  /** Scope without which the page is not in the menu. */
  scope: string
  page: Page
}

const pages: readonly PageEntry[] = [
  { path: 'playground', title: 'Playground', scope: 'screenshots:write', page: Playground },
  { path: 'screenshots', title: 'Screenshots', scope: 'screenshots:read', page: Screenshots },
  { path: 'videos', title: 'Videos', scope: 'screenshots:read', page: Videos },
  { path: 'schedules', title: 'Schedules', scope: 'schedules:read', page: Schedules },
  { path: 'webhooks', title: 'Webhooks', scope: 'webhooks:read', page: Webhooks },
  { path: 'keys', title: 'Keys', scope: 'keys:read', page: Keys },
  { path: 'usage', title: 'Usage', scope: 'usage:read', page: Usage },
  { path: 'system', title: 'System', scope: 'admin:read', page: System },
]
