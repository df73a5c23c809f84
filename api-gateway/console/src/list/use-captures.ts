import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Capture, type Collection, recordPath } from '../api/captures.ts'
import { api, RequestError, type Schemas } from '../api/client.ts'
import { mergeNewest, replaceRecords } from './merge.ts'

const PAGE_SIZE = 100
const REFRESH_MILLISECONDS = 5_000
/** Pending records below the first page that one refresh reads. */
const MAX_SINGLE_READS = 8
/** Above this scroll position, new records wait until the reader asks for them, so that the list does not move. */
const TOP_PIXELS = 240

interface State {
  items: readonly Capture[]
  cursor: string | null
  /** New records that are not shown yet. */
  waiting: readonly Capture[]
  isLoading: boolean
  error?: unknown
}

const EMPTY: State = { items: [], cursor: null, waiting: [], isLoading: true }

interface CapturePage {
  data: readonly Capture[]
  pagination: Schemas['ScreenshotList']['pagination']
}

const readPage = async (collection: Collection, filter: string, cursor: string | null, signal: AbortSignal): Promise<CapturePage> => {
  const query = new URLSearchParams(filter)
  query.set('limit', String(PAGE_SIZE))
  if (cursor !== null) query.set('cursor', cursor)
  return (await api<CapturePage>(`/${collection}?${query}`, { signal })).data
}

/** Current versions of records. Undefined for those that were deleted. */
async function readRecords(collection: Collection, ids: readonly string[], signal: AbortSignal): Promise<Map<string, Capture | undefined>> {
  const read = async (id: string): Promise<[string, Capture | undefined]> => {
    try {
      return [id, (await api<Capture>(recordPath(collection, id), { signal })).data]
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return [id, undefined]
      throw error
    }
  }
  return new Map(await Promise.all(ids.map(read)))
}

/** Screenshots or videos of the account with the newest first. The list refreshes itself, and grows when `loadMore` is called. */
export function useCaptures(collection: Collection, filter: string) {
  const [state, setState] = useState<State>(EMPTY)
  const current = useRef(state)
  current.current = state
  const control = useRef(new AbortController())
  const isBusy = useRef(false)
  /** The end of the list came near while another request ran. */
  const isMoreWanted = useRef(false)

  const load = useCallback(
    async (cursor: string | null) => {
      const { signal } = control.current
      isBusy.current = true
      try {
        const { data, pagination } = await readPage(collection, filter, cursor, signal)
        setState(({ items, waiting }) => ({
          items: cursor === null ? data : [...items, ...data],
          cursor: pagination.next_cursor,
          waiting: cursor === null ? [] : waiting,
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
      const { data, pagination } = await readPage(collection, filter, null, signal)
      const { items, cursor } = current.current
      const seen = new Set(data.map(({ id }) => id))
      const pending = items.filter(({ id, status }) => status === 'pending' && !seen.has(id)).slice(0, MAX_SINGLE_READS)
      const changes = await readRecords(
        collection,
        pending.map(({ id }) => id),
        signal,
      )
      const merged = mergeNewest(replaceRecords(items, changes), data, pagination.next_cursor === null)
      const isAtTop = scrollY < TOP_PIXELS
      const shown = isAtTop || merged.isReset ? merged.items : merged.items.slice(merged.added)
      setState({
        items: shown,
        cursor: merged.isReset || pagination.next_cursor === null ? pagination.next_cursor : cursor,
        waiting: isAtTop || merged.isReset ? [] : merged.items.slice(0, merged.added),
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
    setState(EMPTY)
    void load(null)
    const timer = setInterval(() => void refresh(), REFRESH_MILLISECONDS)
    return () => {
      clearInterval(timer)
      control.current.abort()
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
