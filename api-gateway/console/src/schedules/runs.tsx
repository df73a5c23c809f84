import { useEffect, useState } from 'preact/hooks'
import { api, type Capture, type Collection, RequestError, recordPath, type Schemas } from '../api/client.ts'
import { formatAge, formatInstant } from '../format/text.ts'
import { CaptureCard } from '../list/capture-list.tsx'
import { toCard } from '../list/card.ts'
import { ConfirmButton } from '../ui/buttons.tsx'
import { ErrorNote, StatusBadge } from '../ui/notes.tsx'
import { Panel } from '../ui/panel.tsx'
import { useAction, useData } from '../ui/use-data.ts'
import type { Schedule } from './body.ts'
import { withoutPicture } from './last-run.ts'

export type Run = Schemas['ScheduleRun']

interface RunPage {
  data: readonly Run[]
  pagination: { next_cursor: string | null }
}

const PAGE_SIZE = 12
const REFRESH_MILLISECONDS = 5_000

const readRuns = async (id: string, cursor?: string): Promise<RunPage> => {
  const more = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`
  return (await api<RunPage>(`${schedulePath(id)}/runs?limit=${PAGE_SIZE}${more}`)).data
}

interface RunsProps {
  id: string
  collection: Collection
  /** Runs that are shown until the first page is read. */
  known: readonly Run[]
  /** Changes to read the first page at once. */
  refreshes: number
  /** Run that later runs are compared with. Undefined: runs need no approval. */
  approved?: string | null
  /** Undefined: the key may not approve. */
  approve?: ((run: string) => void) | undefined
}

/** Runs with their pictures, the newest first. */
export function Runs({ id, collection, known, refreshes, approved, approve }: RunsProps) {
  const { value: first, error } = useData(`runs ${id} ${refreshes}`, () => readRuns(id), REFRESH_MILLISECONDS)
  const [older, setOlder] = useState<RunPage>()
  const { problem, act } = useAction()
  const cursor = older ? older.pagination.next_cursor : first?.pagination.next_cursor
  const loadMore = (after: string) =>
    act(async () => {
      const { data, pagination } = await readRuns(id, after)
      setOlder((before) => ({ data: [...(before?.data ?? []), ...data], pagination }))
    })
  // Runs move from the first page to the older ones.
  const runs = [...new Map([...(first?.data ?? known), ...(older?.data ?? [])].map((run) => [run.id, run])).values()]
  return (
    <Panel title="Runs">
      <ErrorNote error={problem ?? error} />
      {first && runs.length === 0 ? <p class="soft">No run yet.</p> : null}
      <ul class="runs">
        {runs.map((run) => (
          <li key={run.id}>
            <RunCard run={run} collection={collection} approved={approved} approve={approve} />
          </li>
        ))}
      </ul>
      {cursor ? (
        <p class="center">
          <button type="button" onClick={() => loadMore(cursor)}>
            Show older runs
          </button>
        </p>
      ) : null}
    </Panel>
  )
}

type RunCardProps = { run: Run } & Pick<RunsProps, 'collection' | 'approved' | 'approve'>

/** A run as the card of its capture. While that is read, and if it was deleted, the card has no picture. */
function RunCard({ run, collection, approved, approve }: RunCardProps) {
  const [shot, setShot] = useState<Capture | 'deleted'>()
  const { id, status } = run
  useEffect(() => {
    const control = new AbortController()
    api<Capture>(recordPath(collection, id), { signal: control.signal }).then(
      ({ data }) => setShot(data),
      (error: unknown) => setShot(error instanceof RequestError && error.status === 404 ? 'deleted' : undefined),
    )
    return () => control.abort()
  }, [collection, id, status])
  if (shot && shot !== 'deleted')
    return (
      <>
        <CaptureCard card={toCard(shot)} title={formatInstant(run.scheduled_at)} />
        {approved === undefined ? null : (
          <RunApproval run={run} hasPicture={shot.download_url !== null} approved={approved} approve={approve} />
        )}
      </>
    )
  return (
    <div class="card">
      <span class="thumbnail">
        <span class="soft">{withoutPicture(run, shot === 'deleted')}</span>
      </span>
      <span class="title">{formatInstant(run.scheduled_at)}</span>
      <span class="line">
        <StatusBadge status={status} />
        <span class="soft small">{formatAge(run.scheduled_at, new Date())}</span>
      </span>
    </div>
  )
}

interface RunApprovalProps {
  run: Run
  /** False if the files of the run have expired. */
  hasPicture: boolean
  approved: string | null
  approve: RunsProps['approve']
}

/** Below a card: whether its run is the approved one, else a button that approves it, or why it cannot be approved. */
function RunApproval({ run: { id, status, unfit, scheduled_at: due }, hasPicture, approved, approve }: RunApprovalProps) {
  if (id === approved)
    return (
      <p class="run-approval">
        <span class="badge same">Approved</span>
      </p>
    )
  // A person may approve a login form.
  if (status !== 'completed' || (unfit !== null && unfit !== 'login')) return null
  if (!hasPicture) return <p class="run-approval soft small">The picture is gone, so this run cannot be approved.</p>
  if (!approve) return null
  return (
    <p class="run-approval">
      <ConfirmButton
        label="Approve"
        name={`Approve the run of ${formatInstant(due)}`}
        title="Approve this run?"
        text={`Later runs are compared with the picture of ${formatInstant(due)}.`}
        kind="primary"
        isPlain
        onConfirm={() => approve(id)}
      />
    </p>
  )
}

export const schedulePath = (id: string): string => `/schedules/${encodeURIComponent(id)}`

export const readSchedule = async (id: string): Promise<Schedule> => (await api<Schemas['ScheduleFound']>(schedulePath(id))).data.data
