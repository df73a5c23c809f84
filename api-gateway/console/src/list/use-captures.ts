import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { api, type Capture, type Collection, RequestError, recordPath, type Schemas } from '../api/client.ts'
import { keep, recall } from '../ui/use-data.ts'
import { type Card, toCard } from './card.ts'
import { keepSame, mergeNewest, replaceRecords, splitWaiting } from './shown.ts'

/** Records of the first page, which is also what a refresh reads: about a window full, so that they appear soon over slow connections. */
const FIRST_PAGE_SIZE = 24
const PAGE_SIZE = 100
/** Pages that a refresh reads to find where new records end. */
const MAX_REFRESH_PAGES = 5
const REFRESH_MILLISECONDS = 5_000
/** Pending records below the first page that one refresh reads. */
const MAX_SINGLE_READS = 8
/** Above this scroll position, new records wait until the reader asks for them, so that the list does not move. */
const TOP_PIXELS = 240

interface State {
  items: readonly Card[]
  cursor: string | null
  /** New records that are not shown yet. */
  waiting: readonly Card[]
  isLoading: boolean
  error?: unknown
}

const EMPTY: State = { items: [], cursor: null, waiting: [], isLoading: true }

/** A list as it was left, and where it was scrolled to. */
interface Left {
  state: State
  top: number
}

interface CapturePage {
  cards: readonly Card[]
  /** Null after the last page. */
  cursor: string | null
}

interface PageRequest {
  collection: Collection
  filter: string
  signal: AbortSignal
}

async function readPage({ collection, filter, signal }: PageRequest, limit: number, cursor: string | null): Promise<CapturePage> {
  const query = new URLSearchParams(filter)
  query.set('limit', String(limit))
  if (cursor !== null) query.set('cursor', cursor)
  const { data } = await api<{ data: readonly Capture[]; pagination: Schemas['ScreenshotList']['pagination'] }>(`/${collection}?${query}`, {
    signal,
  })
  return { cards: data.data.map(toCard), cursor: data.pagination.next_cursor }
}

/** The newest records up to one that the list has. They include as many pending records as one page can have. */
async function readNewest(request: PageRequest, known: readonly Card[]): Promise<CapturePage> {
  const ids = new Set(known.map(({ id }) => id))
  const lastPending = known.findLastIndex(({ status }) => status === 'pending')
  let page = await readPage(request, Math.min(PAGE_SIZE, Math.max(FIRST_PAGE_SIZE, lastPending + 1)), null)
  for (let pages = 1; pages < MAX_REFRESH_PAGES; pages++) {
    if (page.cursor === null || known.length === 0 || page.cards.some(({ id }) => ids.has(id))) break
    const { cards, cursor } = await readPage(request, PAGE_SIZE, page.cursor)
    page = { cards: [...page.cards, ...cards], cursor }
  }
  return page
}

/** Current versions of records. Undefined for those that were deleted. */
async function readCards({ collection, signal }: PageRequest, ids: readonly string[]): Promise<Map<string, Card | undefined>> {
  const read = async (id: string): Promise<[string, Card | undefined]> => {
    try {
      return [id, toCard((await api<Capture>(recordPath(collection, id), { signal })).data)]
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return [id, undefined]
      throw error
    }
  }
  return new Map(await Promise.all(ids.map(read)))
}

/** Removes a deleted capture from the list that leads to it. */
export function forgetCapture(collection: Collection, id: string): void {
  const [, filter = ''] = listPath(collection).split('?')
  const place = `${collection}?${filter}`
  const left = recall<Left>(place)
  if (left) keep(place, { ...left, state: { ...left.state, items: left.state.items.filter((item) => item.id !== id) } })
}

/** Screenshots or videos of the account with the newest first. The list refreshes itself, and grows when `loadMore` is called. */
export function useCaptures(collection: Collection, filter: string) {
  const place = `${collection}?${filter}`
  const [state, setState] = useState<State>(() => recall<Left>(place)?.state ?? EMPTY)
  const current = useRef(state)
  current.current = state
  const control = useRef(new AbortController())
  const isBusy = useRef(false)
  /** The end of the list came near while another request ran. */
  const isMoreWanted = useRef(false)

  const load = useCallback(
    async (after: string | null) => {
      const { signal } = control.current
      isBusy.current = true
      try {
        const { cards, cursor } = await readPage({ collection, filter, signal }, after === null ? FIRST_PAGE_SIZE : PAGE_SIZE, after)
        setState(({ items, waiting }) => ({
          items: after === null ? cards : [...items, ...cards],
          cursor,
          waiting: after === null ? [] : waiting,
          isLoading: false,
        }))
      } catch (error) {
        if (!signal.aborted) setState((before) => ({ ...before, isLoading: false, error }))
      } finally {
        isBusy.current = false
      }
    },
    [collection, filter],
  )

  const refresh = useCallback(async () => {
    const { signal } = control.current
    if (isBusy.current || document.hidden) return
    isBusy.current = true
    try {
      const request = { collection, filter, signal }
      const { items, cursor, waiting } = current.current
      const known = [...waiting, ...items]
      const newest = await readNewest(request, known)
      const seen = new Set(newest.cards.map(({ id }) => id))
      const pending = known.filter(({ id, status }) => status === 'pending' && !seen.has(id)).slice(0, MAX_SINGLE_READS)
      const changes = await readCards(
        request,
        pending.map(({ id }) => id),
      )
      const merged = mergeNewest(replaceRecords(known, changes), keepSame(known, newest.cards), newest.cursor === null)
      const isMoved = scrollY < TOP_PIXELS || merged.isReset
      const parts = isMoved ? { waiting: [], items: merged.items } : splitWaiting(merged.items, items)
      setState({
        ...parts,
        cursor: merged.endsWithPage ? newest.cursor : cursor,
        isLoading: false,
      })
    } catch (error) {
      if (!signal.aborted) setState((before) => ({ ...before, error }))
    } finally {
      isBusy.current = false
    }
  }, [collection, filter])

  useEffect(() => {
    control.current = new AbortController()
    isBusy.current = false
    const left = recall<Left>(place)
    setState(left?.state ?? EMPTY)
    void (left ? refresh() : load(null))
    const timer = setInterval(() => void refresh(), REFRESH_MILLISECONDS)
    // The scroll position is noted while the list is shown. The next page begins at the top before this effect ends.
    let top = left?.top ?? 0
    const { hash } = location
    const note = () => {
      if (location.hash === hash) top = scrollY
    }
    // The grid has its height after it was measured and drawn.
    if (left) requestAnimationFrame(() => requestAnimationFrame(() => scrollTo({ top: left.top })))
    addEventListener('scroll', note, { passive: true })
    return () => {
      removeEventListener('scroll', note)
      clearInterval(timer)
      control.current.abort()
      const { items, cursor } = current.current
      if (items.length > 0) keep(place, { state: { ...EMPTY, items, cursor, isLoading: false }, top } satisfies Left)
    }
  }, [load, refresh])

  const loadMore = () => {
    const { cursor } = current.current
    if (cursor === null) return
    isMoreWanted.current = isBusy.current
    if (!isBusy.current) void load(cursor)
  }
  useEffect(() => {
    if (isMoreWanted.current) loadMore()
  }, [state])
  const showWaiting = () => {
    setState((before) => ({ ...before, items: [...before.waiting, ...before.items], waiting: [] }))
    scrollTo({ top: 0 })
  }
  return { ...state, loadMore, showWaiting }
}

const keyOf = (collection: Collection): string => `filter of ${collection}`

/** Remembers the filters of a list, so that a record leads back to the same list. */
export const keepFilter = (collection: Collection, filter: string): void => keep(keyOf(collection), filter)

/** The list with the filters that it had last. */
export function listPath(collection: Collection): string {
  const filter = recall<string>(keyOf(collection)) ?? ''
  return filter === '' ? collection : `${collection}?${filter}`
}
