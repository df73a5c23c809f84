import { useEffect, useRef, useState } from 'preact/hooks'
import { api, type Capture, hasScope, recordPath, type Schemas, type Session } from '../api/client.ts'
import { isMoving } from '../form/fields.ts'
import { formatShare } from '../format/pictures.ts'
import { formatAge, formatInstant } from '../format/text.ts'
import { toCard } from '../list/card.ts'
import { ErrorNote } from '../ui/notes.tsx'
import { ScrollTable } from '../ui/panel.tsx'
import { useData } from '../ui/use-data.ts'
import type { Schedule } from './body.ts'
import { describeLastRun } from './last-run.ts'

const REFRESH_MILLISECONDS = 10_000
const LIMIT = 500

const TITLES: Readonly<Record<Schedule['status'], string>> = { active: 'Active', suspended: 'Suspended', blocked: 'Blocked' }

export const ScheduleState = ({ schedule: { status } }: { schedule: Schedule }) => <span class={`badge ${status}`}>{TITLES[status]}</span>

/** When the page last changed, and by how much. */
function Change({ change }: { change: NonNullable<Schedule['last_change']> }) {
  return (
    <a href={`#/screenshots/${change.id}`} title={formatInstant(change.scheduled_at)}>
      {formatAge(change.scheduled_at, new Date())}
      {change.changed_ratio === null ? '' : `, ${formatShare(change.changed_ratio)}`}
    </a>
  )
}

/** All schedules of the account. */
export function ScheduleList({ session }: { session: Session }) {
  const { value, error } = useData(
    'schedules',
    async () => (await api<Schemas['ScheduleList']>(`/schedules?limit=${LIMIT}`)).data,
    REFRESH_MILLISECONDS,
  )
  return (
    <>
      <ErrorNote error={error} />
      {hasScope(session, 'schedules:write') ? (
        <p>
          <a class="button" href="#/schedules/new">
            New schedule
          </a>
        </p>
      ) : null}
      <section class="panel" aria-label="Schedules">
        {value?.data.length === 0 ? <p class="empty">No schedules yet.</p> : null}
        {!value && !error ? <p class="empty">Loading…</p> : null}
        {value && value.data.length > 0 ? (
          <ScrollTable head={['Picture', 'Name', 'Times', 'Next run', 'Last run', 'Changed', 'State']}>
            {value.data.map((schedule) => (
              <tr key={schedule.id}>
                <td data-label="Picture">
                  <LastPicture schedule={schedule} />
                </td>
                <td data-label="Name">
                  <a href={`#/schedules/${schedule.id}`}>{schedule.name}</a>
                  <div class="soft wrap">{schedule.url}</div>
                </td>
                <td class="mono" data-label="Times">
                  {schedule.schedule}
                  <div class="soft">{schedule.time_zone}</div>
                </td>
                <td data-label="Next run" title={schedule.next_run_at ? formatInstant(schedule.next_run_at) : ''}>
                  {schedule.next_run_at ? formatAge(schedule.next_run_at, new Date()) : '–'}
                </td>
                <td data-label="Last run">{describeLastRun(schedule, new Date())}</td>
                <td data-label="Changed">{schedule.last_change ? <Change change={schedule.last_change} /> : '–'}</td>
                <td data-label="State">
                  <ScheduleState schedule={schedule} />
                </td>
              </tr>
            ))}
          </ScrollTable>
        ) : null}
        {value && value.pagination.total > LIMIT ? <p class="soft">The first {LIMIT} schedules.</p> : null}
      </section>
    </>
  )
}

/** The picture of the last completed run. It is read once its row is in the window: an account may have hundreds of schedules. */
function LastPicture({ schedule: { name, options, recent_runs: runs } }: { schedule: Schedule }) {
  const place = useRef<HTMLSpanElement>(null)
  const [url, setUrl] = useState<string>()
  const id = runs.find(({ status }) => status === 'completed')?.id
  const collection = isMoving(String(options.format)) ? 'videos' : 'screenshots'
  useEffect(() => {
    const control = new AbortController()
    const observer = new IntersectionObserver((entries) => {
      if (id === undefined || !entries.some(({ isIntersecting }) => isIntersecting)) return
      observer.disconnect()
      api<Capture>(recordPath(collection, id), { signal: control.signal }).then(
        ({ data }) => {
          const { preview } = toCard(data)
          setUrl(preview?.kind === 'picture' ? preview.url : undefined)
        },
        () => setUrl(undefined),
      )
    })
    if (place.current) observer.observe(place.current)
    return () => {
      control.abort()
      observer.disconnect()
    }
  }, [collection, id])
  return (
    <span class="small-picture" ref={place}>
      {url === undefined ? null : <img src={url} alt={`Last run of ${name}`} decoding="async" referrerpolicy="no-referrer" />}
    </span>
  )
}
