import { api, hasScope, type Schemas, type Session } from '../api/client.ts'
import { formatInstant } from '../format/text.ts'
import { ConfirmButton } from '../ui/confirm.tsx'
import { Panel } from '../ui/panel.tsx'
import { useData } from '../ui/use-data.ts'
import type { Schedule } from './body.ts'
import { readSchedule, schedulePath } from './read-schedule.ts'

type Comparison = NonNullable<Schedule['comparison']>

const runLink = (id: string) => <a href={`#/screenshots/${id}`}>{id}</a>

const APPLIED_MILLISECONDS = 5_000
const CHECK_MILLISECONDS = 300

/** Shown if the operator has not applied a request after some seconds. */
export const NOT_APPLIED = 'Requested. It is not applied yet; this page shows when it is.'

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
export async function approveRun(id: string, run: string): Promise<boolean> {
  await api(`${schedulePath(id)}/approve`, { method: 'POST', body: { run_id: run } })
  return isApplied(id, run)
}

/** Undoes the last approval. Returns what happened; undefined: the operator has not applied it yet. */
export async function undoApproval(id: string): Promise<string | undefined> {
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
export function Approvals({ comparison: { approvals }, session, undo }: ApprovalsProps) {
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
