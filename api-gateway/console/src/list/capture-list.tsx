import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { api, type Capture, type Collection, type Schemas, TITLES } from '../api/client.ts'
import { Select } from '../form/inputs.tsx'
import { formatAge, formatInstant, fromLocalInput, STATUS_TITLES, toLocalInput } from '../format/text.ts'
import { navigate } from '../routing/router.ts'
import { Bars } from '../ui/bars.tsx'
import { ErrorNote, StatusBadge } from '../ui/notes.tsx'
import type { Card } from './card.ts'
import { describeEnd, toVisibleRange, type VisibleRange } from './shown.ts'
import { keepFilter, useCaptures } from './use-captures.ts'

/** Height of a card and its gap. style.css sets the same height. */
const ROW_HEIGHT = 274
const COLUMN_WIDTH = 250

const STATUSES = ['pending', 'completed', 'failed']
const FORMATS: Readonly<Record<Collection, readonly string[]>> = {
  screenshots: ['png', 'jpeg', 'webp', 'avif', 'pdf'],
  videos: ['mp4', 'webm', 'gif'],
}
const FILTERS = ['status', 'format', 'url', 'external_identifier', 'created_after', 'created_before']

/** The filters that a link to the page has. */
const filterOf = (query: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query].filter(([name, value]) => FILTERS.includes(name) && value !== ''))

/** All screenshots or videos of the account, with filters that are part of the page's URL. */
export function CaptureList({ collection, query: given }: { collection: Collection; query: URLSearchParams }) {
  const query = filterOf(given)
  keepFilter(collection, query.toString())
  const { items, cursor, waiting, isLoading, error, loadMore, showWaiting } = useCaptures(collection, query.toString())
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(query)
    if (value === '') next.delete(name)
    else next.set(name, value)
    navigate(`${collection}${next.size > 0 ? `?${next}` : ''}`)
  }
  return (
    <>
      {collection === 'videos' ? (
        <p>
          <a class="button" href="#/playground?format=mp4">
            Record a video
          </a>
        </p>
      ) : null}
      <Filters formats={FORMATS[collection]} query={query} onChange={change} />
      {query.get('status') === 'failed' ? <FailureCauses key={query.toString()} collection={collection} filter={query.toString()} /> : null}
      <ErrorNote error={error} />
      <div role="status" class="waiting">
        {waiting.length > 0 ? (
          <button type="button" class="primary" onClick={showWaiting}>
            Show {waiting.length} new
          </button>
        ) : null}
      </div>
      {items.length > 0 ? (
        <Grid items={items} rowHeight={ROW_HEIGHT} columnWidth={COLUMN_WIDTH} label={TITLES[collection]} onEnd={loadMore}>
          {(card) => <CaptureCard card={card} />}
        </Grid>
      ) : null}
      {/* Another element than before the first page, because an element that moves is a layout shift. */}
      <p key={items.length === 0 ? 'start' : 'end'} class="empty" aria-live="polite">
        {error && items.length === 0
          ? ''
          : describeEnd(items.length, collection, { isLoading, hasMore: cursor !== null, isFiltered: query.size > 0 })}
      </p>
    </>
  )
}

interface FiltersProps {
  formats: readonly string[]
  query: URLSearchParams
  onChange: (name: string, value: string) => void
}

function Filters({ formats, query, onChange }: FiltersProps) {
  const text = (name: string, label: string, placeholder: string) => (
    <div class="grow">
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        type="search"
        placeholder={placeholder}
        value={query.get(name) ?? ''}
        onChange={(event) => onChange(name, event.currentTarget.value.trim())}
      />
    </div>
  )
  const time = (name: string, label: string) => (
    <div>
      <label for={`filter-${name}`}>{label}</label>
      <input
        id={`filter-${name}`}
        type="datetime-local"
        value={toLocalInput(query.get(name))}
        onChange={(event) => onChange(name, fromLocalInput(event.currentTarget.value))}
      />
    </div>
  )
  const choice = (name: string, label: string, values: readonly string[]) => (
    <div>
      <label for={`filter-${name}`}>{label}</label>
      <Select
        id={`filter-${name}`}
        value={query.get(name) ?? ''}
        options={[['', 'All'], ...values.map((value) => [value, STATUS_TITLES[value] ?? value] as const)]}
        onChoose={(value) => onChange(name, value)}
      />
    </div>
  )
  return (
    <search class="toolbar" aria-label="Filters">
      {choice('status', 'Status', STATUSES)}
      {choice('format', 'Format', formats)}
      {text('url', 'Exact URL', 'https://example.com/')}
      {text('external_identifier', 'External identifier', 'order-1042')}
      {time('created_after', 'Created after (local time)')}
      {time('created_before', 'Created before (local time)')}
    </search>
  )
}

interface GridProps<T> {
  items: readonly T[]
  /** Height of a row with its gap, in pixels. */
  rowHeight: number
  /** Minimum width of a column. */
  columnWidth: number
  label: string
  /** Calls when the end of the list comes near. */
  onEnd: () => void
  /** Draws an item. It is called again when the item is another object, and once a minute for ages. */
  children: (item: T) => ComponentChildren
}

/** Pixels before the end of the list at which more is loaded. */
const AHEAD = 1_200
const MINUTE = 60_000

interface Drawn<T> {
  minute: number
  cells: ReadonlyMap<T, ComponentChildren>
}

interface View extends VisibleRange {
  columns: number
}

const isSame = (a: View, b: View): boolean =>
  a.start === b.start && a.end === b.end && a.before === b.before && a.after === b.after && a.columns === b.columns

/** A grid that draws only what the window shows. */
function Grid<T extends { id: string }>({ items, rowHeight, columnWidth, label, onEnd, children }: GridProps<T>) {
  const list = useRef<HTMLUListElement>(null)
  const [view, setView] = useState<View>({ start: 0, end: 0, before: 0, after: 0, columns: 1 })
  const end = useRef(onEnd)
  end.current = onEnd
  const drawn = useRef<Drawn<T>>({ minute: 0, cells: new Map() })
  useLayoutEffect(() => {
    const measure = () => {
      const box = list.current?.getBoundingClientRect()
      if (!box) return
      const columns = Math.max(1, Math.floor(box.width / columnWidth))
      const range = toVisibleRange({ above: -box.top, height: innerHeight, columns, rowHeight, count: items.length })
      // Most scroll events stay in the same row, and draw nothing.
      setView((before) => (isSame(before, { ...range, columns }) ? before : { ...range, columns }))
      const bottom = box.top + Math.ceil(items.length / columns) * rowHeight
      if (bottom - innerHeight < AHEAD) end.current()
    }
    measure()
    addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [items.length])
  const minute = Math.floor(Date.now() / MINUTE)
  const before = drawn.current.minute === minute ? drawn.current.cells : new Map<T, ComponentChildren>()
  // A cell that was drawn before is the same object, which preact skips. Others are not kept, because they keep their elements.
  const visible = items.slice(view.start, view.end)
  const cells = new Map(visible.map((item): [T, ComponentChildren] => [item, before.get(item) ?? children(item)]))
  drawn.current = { minute, cells }
  return (
    <ul
      ref={list}
      class="grid"
      aria-label={label}
      style={{ paddingTop: `${view.before}px`, paddingBottom: `${view.after}px`, '--columns': String(view.columns) }}
    >
      {visible.map((item, index) => (
        <li key={item.id} aria-setsize={-1} aria-posinset={view.start + index + 1}>
          {cells.get(item)}
        </li>
      ))}
    </ul>
  )
}

const PAGE_SIZE = 500

type Causes = ReadonlyMap<string, number>
type CapturePage = { data: readonly Capture[]; pagination: Schemas['ScreenshotList']['pagination'] }

/** Counts the failed captures of a list by their code. Reads the list to its end. */
async function countCauses(collection: Collection, filter: string, signal: AbortSignal): Promise<Causes> {
  const causes = new Map<string, number>()
  const query = new URLSearchParams(filter)
  query.set('limit', String(PAGE_SIZE))
  for (;;) {
    const { data: page } = await api<CapturePage>(`/${collection}?${query}`, { signal })
    for (const { error } of page.data) causes.set(error?.code ?? 'INTERNAL_ERROR', (causes.get(error?.code ?? 'INTERNAL_ERROR') ?? 0) + 1)
    if (page.pagination.next_cursor === null) return causes
    query.set('cursor', page.pagination.next_cursor)
  }
}

/** Failed captures by cause. They are counted when somebody asks, because the whole list is read. */
function FailureCauses({ collection, filter }: { collection: Collection; filter: string }) {
  const [control, setControl] = useState<AbortController>()
  const [causes, setCauses] = useState<Causes>()
  const [error, setError] = useState<unknown>()
  useEffect(() => () => control?.abort(), [control])
  const count = () => {
    const next = new AbortController()
    setControl(next)
    countCauses(collection, filter, next.signal).then(setCauses, (problem: unknown) => next.signal.aborted || setError(problem))
  }
  if (error) return <ErrorNote error={error} />
  if (!causes) {
    return (
      <p>
        <button type="button" disabled={control !== undefined} onClick={count}>
          {control ? 'Counting…' : 'Count by cause'}
        </button>
      </p>
    )
  }
  const rows = [...causes].sort(([, a], [, b]) => b - a)
  return (
    <section class="panel causes" aria-label="Failures by cause">
      <Bars rows={rows.map(([code, number]) => ({ name: code, number }))} />
    </section>
  )
}

/** A capture in a list. The whole card is a link to its record. `title` replaces the title of the page. */
export function CaptureCard({ card, title = card.title }: { card: Card; title?: string }) {
  const { id, collection, status, url, detail, created_at, note, notice, length } = card
  const [brokenUrl, setBrokenUrl] = useState<string>()
  const preview = card.preview?.url === brokenUrl ? undefined : card.preview
  const fail = () => setBrokenUrl(card.preview?.url)
  return (
    <a class="card" href={`#/${collection}/${id}`}>
      <span class="thumbnail">
        {preview?.kind === 'picture' ? <Thumbnail url={preview.url} onError={fail} /> : null}
        {/* Browsers read only the beginning of the file for its first frame. */}
        {preview?.kind === 'video' ? <video src={preview.url} muted playsInline preload="metadata" tabIndex={-1} onError={fail} /> : null}
        {preview ? null : <span class="soft">{note}</span>}
        {notice === undefined ? null : <span class="badge changed corner">{notice}</span>}
        {length ? <span class="length">{length}</span> : null}
      </span>
      <span class="title">{title}</span>
      <span class="detail" title={url}>
        {detail}
      </span>
      <span class="line">
        <StatusBadge status={status} />
        <span class="soft small" title={formatInstant(created_at)}>
          {formatAge(created_at, new Date())}
        </span>
      </span>
    </a>
  )
}

/** A picture that stops loading when its card leaves the window. Browsers would load it to the end, and keep its elements until then. */
function Thumbnail({ url, onError }: { url: string; onError: () => void }) {
  const image = useRef<HTMLImageElement>(null)
  useLayoutEffect(() => {
    const element = image.current
    return () => element?.removeAttribute('src')
  }, [])
  return <img ref={image} src={url} alt="" decoding="async" referrerpolicy="no-referrer" onError={onError} />
}
