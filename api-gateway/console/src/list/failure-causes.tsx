import { useEffect, useState } from 'preact/hooks'
import type { Capture, Collection } from '../api/captures.ts'
import { api, type Schemas } from '../api/client.ts'
import { ErrorNote } from '../ui/notes.tsx'
import { Bars } from '../ui/waterfall.tsx'

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
export function FailureCauses({ collection, filter }: { collection: Collection; filter: string }) {
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
