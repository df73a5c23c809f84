import { useState } from 'preact/hooks'
import { recordPath, type Screenshot } from '../api/captures.ts'
import { api, hasScope, type Session } from '../api/client.ts'
import { isMoving } from '../form/fields.ts'
import { formatShare } from '../format/overlay.ts'
import { toSafeLink } from '../format/picture-url.ts'
import { formatInstant } from '../format/text.ts'
import { ComparisonPanel, ComparisonPlaceholder } from '../record/comparison.tsx'
import { navigate } from '../routing/router.ts'
import { ConfirmButton } from '../ui/confirm.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { lazy } from '../ui/lazy.tsx'
import { ErrorNote, Note } from '../ui/notes.tsx'
import { Picture } from '../ui/picture.tsx'
import { useData } from '../ui/use-data.ts'
import { Approvals, approveRun, NOT_APPLIED, undoApproval } from './approvals.tsx'
import type { Schedule } from './body.ts'
import { readSchedule, schedulePath } from './read-schedule.ts'
import { Runs } from './runs.tsx'
import { ScheduleState } from './schedule-list.tsx'

const NextTimesList = lazy(async () => (await import('./next-times.tsx')).NextTimesList)

const REFRESH_MILLISECONDS = 5_000

/** One schedule: its state, its next times and its runs. */
export function SchedulePage({ id, session }: { id: string; session: Session }) {
  const { value: schedule, error, reload } = useData(`schedule ${id}`, () => readSchedule(id), REFRESH_MILLISECONDS)
  const [problem, setProblem] = useState<unknown>()
  const [refreshes, setRefreshes] = useState(0)
  const [done, setDone] = useState<string>()
  const act = async <T,>(action: () => Promise<T>, describe?: (result: T) => string) => {
    try {
      const result = await action()
      setProblem(undefined)
      setDone(describe?.(result))
      setRefreshes((count) => count + 1)
      await reload()
    } catch (failure) {
      setDone(undefined)
      setProblem(failure)
    }
  }
  const remove = async () => {
    try {
      await api(schedulePath(id), { method: 'DELETE' })
      navigate('schedules')
    } catch (failure) {
      setProblem(failure)
    }
  }
  if (!schedule) return error ? <ErrorNote error={error} /> : <p class="empty">Loading…</p>
  const mayChange = hasScope(session, 'schedules:write')
  const approve = mayChange
    ? (run: string) => {
        setDone('Approving…')
        return act(
          () => approveRun(id, run),
          (isApplied) => (isApplied ? `Run ${run} is approved. Later runs are compared with it.` : NOT_APPLIED),
        )
      }
    : undefined
  const undo = () => {
    setDone('Undoing the approval…')
    return act(
      () => undoApproval(id),
      (message) => message ?? NOT_APPLIED,
    )
  }
  const suspend = (isSuspended: boolean) => act(() => api(schedulePath(id), { method: 'PATCH', body: { suspend: isSuspended } }))
  return (
    <>
      <p class="crumb">
        <a href="#/schedules">Schedules</a>
      </p>
      <div class="panel-head">
        <h2 class="title wrap">{schedule.name}</h2>
        <ScheduleState schedule={schedule} />
        {mayChange ? (
          <div class="actions">
            <button type="button" onClick={() => act(() => api(`${schedulePath(id)}/run`, { method: 'POST' }))}>
              Run now
            </button>
            <button type="button" onClick={() => suspend(!schedule.suspend)}>
              {schedule.suspend ? 'Resume' : 'Suspend'}
            </button>
            {schedule.suspend ? <span class="soft small">{resumeNote(schedule)}</span> : null}
            <a class="button" href={`#/schedules/${schedule.id}/edit`}>
              Edit
            </a>
            <ConfirmButton
              label="Delete"
              title="Delete this schedule?"
              text="No more runs are created. The captures of earlier runs stay."
              onConfirm={remove}
            />
          </div>
        ) : null}
      </div>
      {problem || error ? <ErrorNote error={problem ?? error} /> : null}
      {done ? <Note kind="good">{done}</Note> : null}
      {schedule.problem ? <Note kind="error">{`${schedule.problem.code}: ${schedule.problem.message}`}</Note> : null}
      <div class="columns schedule">
        <div>
          {schedule.comparison?.waiting_run ? <Waiting id={schedule.comparison.waiting_run} /> : null}
          {schedule.comparison?.last ? <Review id={schedule.comparison.last.id} options={schedule.options} /> : null}
          <Runs
            id={id}
            refreshes={refreshes}
            known={[...schedule.active_runs, ...schedule.recent_runs]}
            collection={isMoving(String(schedule.options.format)) ? 'videos' : 'screenshots'}
            {...(schedule.comparison?.baseline === 'approved' ? { approved: schedule.comparison.baseline_run, approve } : {})}
          />
        </div>
        <div>
          {schedule.comparison ? <LastComparison comparison={schedule.comparison} approve={approve} /> : null}
          {schedule.comparison ? <Approvals comparison={schedule.comparison} undo={mayChange ? undo : undefined} /> : null}
          <Times schedule={schedule} />
          <Facts schedule={schedule} />
        </div>
      </div>
    </>
  )
}

/** What happens to runs that were due while the schedule was suspended. */
const resumeNote = ({ starting_deadline_seconds: deadline }: Schedule): string =>
  deadline === null
    ? 'After “Resume”, the last missed run starts at once.'
    : `After “Resume”, the last missed run starts at once if it was due within ${deadline} seconds.`

/** The usual size of the pictures. Full pages have another. */
const sizeOf = ({ viewport_width: width, viewport_height: height }: Schedule['options']) => ({
  width: typeof width === 'number' ? width : 1920,
  height: typeof height === 'number' ? height : 1080,
})

/** The picture of the run that waits for approval. */
function Waiting({ id }: { id: string }) {
  const { value: shot } = useData(`review ${id}`, async () => (await api<Screenshot>(recordPath('screenshots', id))).data)
  return shot ? (
    <section class="panel" aria-label="Run to approve">
      <Picture shot={shot} />
    </section>
  ) : null
}

/** The pictures of the last comparison. */
function Review({ id, options }: { id: string; options: Schedule['options'] }) {
  const { value: shot, error } = useData(`review ${id}`, async () => (await api<Screenshot>(recordPath('screenshots', id))).data)
  if (!shot && !error) return <ComparisonPlaceholder size={sizeOf(options)} />
  return shot?.comparison ? <ComparisonPanel shot={shot} comparison={shot.comparison} /> : null
}

interface LastComparisonProps {
  comparison: NonNullable<Schedule['comparison']>
  /** Undefined: the key may not approve. */
  approve: ((run: string) => void) | undefined
}

/** What runs are compared with, and the last result. */
function LastComparison({
  comparison: { baseline, baseline_run: kept, waiting_run: waiting, fit, last, threshold },
  approve,
}: LastComparisonProps) {
  const next = waiting ?? (baseline === 'approved' && last?.id !== kept ? last?.id : undefined)
  return (
    <section class="panel" aria-labelledby="changes-title">
      <div class="panel-head">
        <h2 id="changes-title">Changes</h2>
        {last ? <span class={`badge ${last.changed ? 'changed' : 'same'}`}>{last.changed ? 'Changed' : 'Not changed'}</span> : null}
      </div>
      {fit === false ? <Note kind="warning">The last run does not show the page, so it was not compared.</Note> : null}
      {waiting ? <Note kind="info">Look at the last run, and approve it. Later runs are compared with it.</Note> : null}
      <dl class="facts">
        <dt>Compared with</dt>
        <dd>{baseline === 'approved' ? 'the run that was approved last' : 'the run before'}</dd>
        <dt>Threshold</dt>
        <dd>{threshold === null ? 'any region of a few pixels' : `${formatShare(threshold)} of the pixels`}</dd>
        {last && last.changed_ratio !== null ? (
          <>
            <dt>Last change</dt>
            <dd>
              {formatShare(last.changed_ratio)}, {formatInstant(last.scheduled_at)}
            </dd>
          </>
        ) : null}
        {kept ? (
          <>
            <dt>{baseline === 'approved' ? 'Approved run' : 'Next one is compared with'}</dt>
            <dd>
              <a href={`#/screenshots/${kept}`}>{kept}</a>
            </dd>
          </>
        ) : null}
      </dl>
      {approve && next ? (
        <p class="center">
          <ConfirmButton
            label={waiting ? 'Approve this run' : 'Approve the last run'}
            title="Approve this run?"
            text={
              kept
                ? 'Later runs are compared with its picture. The one that was approved before is no longer used.'
                : 'Later runs are compared with its picture.'
            }
            kind="primary"
            onConfirm={() => approve(next)}
          />
        </p>
      ) : null}
    </section>
  )
}

function Times({ schedule }: { schedule: Schedule }) {
  return (
    <section class="panel" aria-labelledby="times-title">
      <div class="panel-head">
        <h2 id="times-title">Times</h2>
        <code>{schedule.schedule}</code>
      </div>
      {schedule.suspend ? (
        <p class="soft">The schedule is suspended.</p>
      ) : (
        <NextTimesList schedule={schedule.schedule} zone={schedule.time_zone} anchor={Date.parse(schedule.created_at)} />
      )}
    </section>
  )
}

function Facts({ schedule }: { schedule: Schedule }) {
  const link = toSafeLink(schedule.url)
  const facts: [name: string, value: preact.ComponentChildren][] = [
    ['Id', schedule.id],
    [
      'URL',
      link ? (
        <a href={link} target="_blank" rel="noreferrer">
          {schedule.url}
        </a>
      ) : (
        schedule.url
      ),
    ],
    ['Time zone', schedule.time_zone],
    ['Last run', schedule.last_run_at && formatInstant(schedule.last_run_at)],
    ['Last success', schedule.last_success_at && formatInstant(schedule.last_success_at)],
    ['Overlap', schedule.concurrency_policy === 'allow' ? 'runs may overlap' : 'a run waits for the previous one'],
    ['Deadline', schedule.starting_deadline_seconds !== null && `${schedule.starting_deadline_seconds} s`],
    ['Spread', schedule.spread_seconds > 0 && `${schedule.spread_seconds} s`],
    ['External identifier', schedule.external_identifier],
    ['Webhook', schedule.webhook_url],
    ['Keep files', schedule.retention_days !== null && `${schedule.retention_days} days`],
  ]
  return (
    <section class="panel" aria-labelledby="schedule-facts-title">
      <div class="panel-head">
        <h2 id="schedule-facts-title">Schedule</h2>
        <CopyButton text={schedule.id} label="Copy id" />
      </div>
      <dl class="facts">
        {facts
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ))}
      </dl>
      {Object.keys(schedule.options).length > 0 ? (
        <details>
          <summary>Options</summary>
          <dl class="facts mono">
            {Object.entries(schedule.options).map(([name, value]) => (
              <>
                <dt>{name}</dt>
                <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
              </>
            ))}
          </dl>
        </details>
      ) : null}
    </section>
  )
}
