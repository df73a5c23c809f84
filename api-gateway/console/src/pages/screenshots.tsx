import { useState } from 'preact/hooks'
import type { Screenshot } from '../api/client.ts'
import { toPictureUrl } from '../format/picture-url.ts'
import { formatAge, formatInstant } from '../format/text.ts'
import { Grid } from '../list/grid.tsx'
import { useScreenshots } from '../list/use-screenshots.ts'
import { RecordPage } from '../record/record-page.tsx'
import type { Page } from '../routing/page.ts'
import { navigate } from '../routing/router.ts'
import { ErrorNote, StatusBadge } from '../ui/notes.tsx'

/** Height of a card and its gap. style.css sets the same height. */
const ROW_HEIGHT = 252
const COLUMN_WIDTH = 250

const STATUSES = ['pending', 'completed', 'failed']
const FORMATS = ['png', 'jpeg', 'webp', 'avif', 'pdf']
const FILTERS = ['status', 'format', 'url', 'external_identifier', 'created_after', 'created_before']

/** The filters that a link to the page has. */
const filterOf = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name, value]) => FILTERS.includes(name) && value !== ''))

const Screenshots: Page = ({ session, parts: [id], query }) =>
  id === undefined ? <ScreenshotList query={filterOf(query)} /> : <RecordPage id={id} session={session} />

function ScreenshotList({ query }: { query: URLSearchParams }) {
  const { items, cursor, waiting, isLoading, error, loadMore, showWaiting } = useScreenshots(query.toString())
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(query)
    if (value === '') next.delete(name)
    else next.set(name, value)
    navigate(`screenshots${next.size > 0 ? `?${next}` : ''}`)
  }
  return (
    <>
      <Filters query={query} onChange={change} />
      {error ? <ErrorNote error={error} /> : null}
      <div role="status" class="waiting">
        {waiting.length > 0 ? (
          <button type="button" class="primary" onClick={showWaiting}>
            Show {waiting.length} new
          </button>
        ) : null}
      </div>
      {items.length > 0 ? (
        <Grid items={items} rowHeight={ROW_HEIGHT} columnWidth={COLUMN_WIDTH} label="Screenshots" onEnd={loadMore}>
          {(shot) => <Card shot={shot} />}
        </Grid>
      ) : null}
      <p class="empty" aria-live="polite">
        {describeEnd(items.length, { isLoading, hasMore: cursor !== null, isFiltered: query.size > 0 })}
      </p>
    </>
  )
}

function describeEnd(
  count: number,
  { isLoading, hasMore, isFiltered }: { isLoading: boolean; hasMore: boolean; isFiltered: boolean },
): string {
  if (isLoading || hasMore) return 'Loading…'
  if (count > 0) return count === 1 ? 'One screenshot' : `${count} screenshots`
  return isFiltered ? 'No screenshot matches the filters.' : 'No screenshots yet. The playground makes the first one.'
}

function Filters({ query, onChange }: { query: URLSearchParams; onChange: (name: string, value: string) => void }) {
  const text = (name: string, label: string, type: string, placeholder = '') => (
    <div class={type === 'search' ? 'grow' : ''}>
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        type={type as 'search'}
        placeholder={placeholder}
        value={query.get(name) ?? ''}
        onChange={(event) => onChange(name, event.currentTarget.value.trim())}
      />
    </div>
  )
  const choice = (name: string, label: string, values: readonly string[]) => (
    <div>
      <label for={`filter-${name}`}>{label}</label>
      <select id={`filter-${name}`} value={query.get(name) ?? ''} onChange={(event) => onChange(name, event.currentTarget.value)}>
        <option value="">All</option>
        {values.map((value) => (
          <option key={value} value={value}>
            {value}
          </option>
        ))}
      </select>
    </div>
  )
  return (
    <search class="toolbar" aria-label="Filters">
      {choice('status', 'Status', STATUSES)}
      {choice('format', 'Format', FORMATS)}
      {text('url', 'Exact URL', 'search', 'https://example.com/')}
      {text('external_identifier', 'External identifier', 'search', 'order-1042')}
      {text('created_after', 'Created after', 'date')}
      {text('created_before', 'Created before', 'date')}
    </search>
  )
}

/** The smallest picture of a screenshot. */
function thumbnailOf(shot: Screenshot): string | undefined {
  const thumbnail = shot.artifacts.find(({ type }) => type === 'thumbnail')
  if (thumbnail) return toPictureUrl(thumbnail.download_url)
  return shot.content_type.startsWith('image/') ? toPictureUrl(shot.download_url) : undefined
}

function Card({ shot }: { shot: Screenshot }) {
  const [isBroken, setBroken] = useState(false)
  const source = shot.status === 'completed' && !isBroken ? thumbnailOf(shot) : undefined
  const name = shot.metadata?.page_title || shot.url
  return (
    <a class="card" href={`#/screenshots/${shot.id}`}>
      <span class="thumbnail">
        {source ? (
          <img src={source} alt="" loading="lazy" decoding="async" referrerpolicy="no-referrer" onError={() => setBroken(true)} />
        ) : (
          <span class="soft">{shot.status === 'completed' ? shot.format : (shot.error?.code ?? 'Waiting')}</span>
        )}
      </span>
      <span class="title">{name}</span>
      <span class="line">
        <StatusBadge status={shot.status} />
        <span class="soft small" title={formatInstant(shot.created_at)}>
          {formatAge(shot.created_at, new Date())}
        </span>
      </span>
    </a>
  )
}

export default Screenshots
