import { counted } from '@tintype/crds/text/words'
import { useState } from 'preact/hooks'
import { api, hasScope, recordPath, type Schemas, type Screenshot, type Session } from '../api/client.ts'
import { isMoving } from '../form/fields.ts'
import { formatShare } from '../format/pictures.ts'
import { formatInstant } from '../format/text.ts'
import { ComparisonPanel, ComparisonPlaceholder } from '../record/comparison.tsx'
import { navigate } from '../routing/router.ts'
import { ConfirmButton, CopyButton } from '../ui/buttons.tsx'
import { lazy } from '../ui/lazy.tsx'
import { ChangeBadge, ErrorNote, Missing, Note } from '../ui/notes.tsx'
import { Crumb, ExternalLink, Fact, OptionFacts, Panel } from '../ui/panel.tsx'
import { Picture } from '../ui/picture.tsx'
import { useAction, useData } from '../ui/use-data.ts'
import type { Schedule } from './body.ts'
import { Runs, readSchedule, schedulePath } from './runs.tsx'
import { ScheduleState } from './schedule-list.tsx'

const NextTimesList = lazy(async () => (await import('./next-times.tsx')).NextTimesList)

const REFRESH_MILLISECONDS = 5_000

/** One schedule: its state, its next times and its runs. */
export function SchedulePage({ id, session }: { id: string; session: Session }) {
  const { value: schedule, error, reload } = useData(`schedule ${id}`, () => readSchedule(id), REFRESH_MILLISECONDS)
  const { problem, act: attempt } = useAction()
  const [refreshes, setRefreshes] = useState(0)
  const [done, setDone] = useState<string>()
  const act = async <T,>(action: () => Promise<T>, describe?: (result: T) => string) => {
    const hasSucceeded = await attempt(async () => {
      const result = await action()
      setDone(describe?.(result))
      setRefreshes((count) => count + 1)
      await reload()
    })
    if (!hasSucceeded) setDone(undefined)
  }
  const remove = () =>
    attempt(async () => {
      await api(schedulePath(id), { method: 'DELETE' })
      navigate('schedules')
    })
  if (!schedule) return <Missing error={error} />
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
      <Crumb path="schedules" title="Schedules" />
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
      <ErrorNote error={problem ?? error} />
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
          {schedule.comparison ? (
            <Approvals comparison={schedule.comparison} session={session} undo={mayChange ? undo : undefined} />
          ) : null}
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

const useScreenshot = (id: string) => useData(`review ${id}`, async () => (await api<Screenshot>(recordPath('screenshots', id))).data)

/** The picture of the run that waits for approval. */
function Waiting({ id }: { id: string }) {
  const { value: shot } = useScreenshot(id)
  return shot ? (
    <section class="panel" aria-label="Run to approve">
      <Picture shot={shot} />
    </section>
  ) : null
}

/** The pictures of the last comparison. */
function Review({ id, options }: { id: string; options: Schedule['options'] }) {
  const { value: shot, error } = useScreenshot(id)
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
    <Panel title="Changes" beside={last && <ChangeBadge changed={last.changed} />}>
      {fit === false ? <Note kind="warning">The last run does not show the page, so it was not compared.</Note> : null}
      {waiting ? <Note kind="info">Look at the last run, and approve it. Later runs are compared with it.</Note> : null}
      <dl class="facts">
        <Fact name="Compared with">{baseline === 'approved' ? 'the run that was approved last' : 'the run before'}</Fact>
        <Fact name="Threshold">{threshold === null ? 'any region of a few pixels' : `${formatShare(threshold)} of the pixels`}</Fact>
        <Fact name="Last change">
          {last && last.changed_ratio !== null && `${formatShare(last.changed_ratio)}, ${formatInstant(last.scheduled_at)}`}
        </Fact>
        <Fact name={baseline === 'approved' ? 'Approved run' : 'Next one is compared with'}>
          {kept && <a href={`#/screenshots/${kept}`}>{kept}</a>}
        </Fact>
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
            kind={waiting || last?.changed ? 'primary' : 'secondary'}
            onConfirm={() => approve(next)}
          />
        </p>
      ) : null}
    </Panel>
  )
}

function Times({ schedule }: { schedule: Schedule }) {
  return (
    <Panel title="Times" beside={<code>{schedule.schedule}</code>}>
      {schedule.suspend ? (
        <p class="soft">The schedule is suspended.</p>
      ) : (
        <NextTimesList schedule={schedule.schedule} zone={schedule.time_zone} anchor={Date.parse(schedule.created_at)} />
      )}
    </Panel>
  )
}

function Facts({ schedule }: { schedule: Schedule }) {
  return (
    <Panel title="Schedule" beside={<CopyButton text={schedule.id} label="Copy id" />}>
      <dl class="facts">
        <Fact name="Id">{schedule.id}</Fact>
        <Fact name="URL">
          <ExternalLink url={schedule.url} />
        </Fact>
        <Fact name="Time zone">{schedule.time_zone}</Fact>
        <Fact name="Last run">{schedule.last_run_at && formatInstant(schedule.last_run_at)}</Fact>
        <Fact name="Last success">{schedule.last_success_at && formatInstant(schedule.last_success_at)}</Fact>
        <Fact name="Overlap">{schedule.concurrency_policy === 'allow' ? 'runs may overlap' : 'a run waits for the previous one'}</Fact>
        <Fact name="Deadline">{schedule.starting_deadline_seconds !== null && `${schedule.starting_deadline_seconds} s`}</Fact>
        <Fact name="Spread">{schedule.spread_seconds > 0 && `${schedule.spread_seconds} s`}</Fact>
        <Fact name="External identifier">{schedule.external_identifier}</Fact>
        <Fact name="Webhook">{schedule.webhook_url}</Fact>
        <Fact name="Keep files">{schedule.retention_days !== null && counted(schedule.retention_days, 'day')}</Fact>
      </dl>
      {Object.keys(schedule.options).length > 0 ? (
        <details>
          <summary>Options</summary>
          <OptionFacts options={schedule.options} />
        </details>
      ) : null}
    </Panel>
  )
}

type Comparison = NonNullable<Schedule['comparison']>

const runLink = (id: string) => <a href={`#/screenshots/${id}`}>{id}</a>

const APPLIED_MILLISECONDS = 5_000
const CHECK_MILLISECONDS = 300

/** Shown if the operator has not applied a request after some seconds. */
const NOT_APPLIED = 'Requested. It is not applied yet; this page shows when it is.'

/** Waits until later runs are compared with a run. Returns false if it takes long. */
async function isApplied(id: string, run: string | null): Promise<boolean> {
  const until = Date.now() + APPLIED_MILLISECONDS
  while (Date.now() < until) {
    if ((await readSchedule(id)).comparison?.baseline_run === run) return true
    await new Promise((resolve) => setTimeout(resolve, CHECK_MILLISECONDS))
  }
  return false
}

/** Approves a run. Returns whether the operator has applied it. */
async function approveRun(id: string, run: string): Promise<boolean> {
  await api(`${schedulePath(id)}/approve`, { method: 'POST', body: { run_id: run } })
  return isApplied(id, run)
}

/** Undoes the last approval. Returns what happened; undefined: the operator has not applied it yet. */
async function undoApproval(id: string): Promise<string | undefined> {
  const { message, data } = (await api<Schemas['ApprovalUndone']>(`${schedulePath(id)}/undo-approval`, { method: 'POST' })).data
  return (await isApplied(id, data.baseline_run)) ? message : undefined
}

interface ApprovalsProps {
  comparison: Pick<Comparison, 'approvals'>
  session: Session
  /** Undefined: the key may not approve. */
  undo: (() => void) | undefined
}

/** The last approvals, and a button that undoes the last one. */
function Approvals({ comparison: { approvals }, session, undo }: ApprovalsProps) {
  const { value: keys = [] } = useData('keys', async () =>
    hasScope(session, 'keys:read') ? (await api<Schemas['ApiKeyList']>('/keys?limit=500&include_inactive=true')).data.data : [session.key],
  )
  const by = (who: string | null): string => (who === null ? '' : ` by ${keys.find(({ id }) => id === who)?.name ?? who}`)
  const last = approvals.find(({ undone_at: undoneAt }) => undoneAt === null)
  if (approvals.length === 0) return null
  return (
    <Panel title="Approvals">
      <ul class="plain-list">
        {approvals.map((approval) => (
          <li key={approval.approved_at}>
            {runLink(approval.run_id)}
            <div class="soft small wrap">
              {`approved ${formatInstant(approval.approved_at)}${by(approval.approved_by)}`}
              {approval.replaced_run === null ? null : <>, replaced {runLink(approval.replaced_run)}</>}
              {approval.undone_at === null ? null : `, undone ${formatInstant(approval.undone_at)}${by(approval.undone_by)}`}
            </div>
          </li>
        ))}
      </ul>
      {last && !last.can_undo ? <p class="soft">The picture from before the last approval is gone, so it cannot be undone.</p> : null}
      {undo && last?.can_undo ? (
        <p class="center">
          <ConfirmButton
            label="Undo the last approval"
            title="Undo the last approval?"
            text={
              last.replaced_run === null
                ? 'Runs are not compared until you approve one.'
                : `Later runs are compared with run ${last.replaced_run} again.`
            }
            kind="secondary"
            onConfirm={undo}
          />
        </p>
      ) : null}
    </Panel>
  )
}
