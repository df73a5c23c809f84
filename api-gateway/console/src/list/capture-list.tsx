import { type Collection, TITLES } from '../api/captures.ts'
import { Select } from '../form/choices.tsx'
import { fromLocalInput, toLocalInput } from '../format/text.ts'
import { STATUS_TITLES } from '../format/titles.ts'
import { navigate } from '../routing/router.ts'
import { ErrorNote } from '../ui/notes.tsx'
import { CaptureCard } from './capture-card.tsx'
import { describeEnd } from './describe-end.ts'
import { FailureCauses } from './failure-causes.tsx'
import { Grid } from './grid.tsx'
import { keepFilter } from './list-path.ts'
import { useCaptures } from './use-captures.ts'

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
