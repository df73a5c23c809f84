import { isConflict } from '@tintype/crds/client/kube-error'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { patchStatus } from '../../kube/patch-seen.ts'
import { buildCleared, buildFailure, buildUnrunnable, type StatusPatch } from '../screenshot/status.ts'
import type { PendingContext } from './context.ts'
import type { PendingAction, PendingDecision } from './decide.ts'
import { keyFor, type Observed } from './observe.ts'

/** Statuses written in one pass, writes at a time, and the pause before the next pass. */
const MAX_WRITES = 40
const PARALLEL = 8
const PAUSE_MILLISECONDS = 100
/** How often to check whether archiving has caught up. */
const BACKLOG_MILLISECONDS = 5_000

/** Executes a few of the actions at a time. Returns the delay until the next reconcile. */
export async function apply(
  key: string,
  { actions, nextMilliseconds }: PendingDecision,
  { isArchiveBehind }: Observed,
  context: PendingContext,
): Promise<number | undefined> {
  const due = isArchiveBehind ? actions.filter((action) => action.do !== 'fail') : actions
  const now = due.slice(0, MAX_WRITES)
  await mapConcurrently(now, PARALLEL, (action) => execute(action, context))
  const failed = now.filter((action) => action.do === 'fail').length
  if (failed > 0) context.log.info({ key, failed, left: actions.length - now.length }, 'queued screenshots failed')
  if (due.length > now.length) return PAUSE_MILLISECONDS
  return due.length < actions.length ? BACKLOG_MILLISECONDS : nextMilliseconds
}

async function execute(action: PendingAction, context: PendingContext): Promise<void> {
  const { shot } = action
  const { clients, events, config, now, enqueueAfter } = context
  const written = await patchStatus(clients.screenshots, shot, statusFor(action, now())).catch((error: unknown) => {
    if (!isConflict(error)) throw error
  })
  // Claimed, changed or deleted meanwhile: reconcile again.
  if (!written) return enqueueAfter(keyFor(accountOf(shot), context), PAUSE_MILLISECONDS)
  if (action.do !== 'note') return
  const { reason, message } = action.obstacle
  events.warn({ ...shot, apiVersion: API_VERSION, kind: 'Screenshot' }, reason, message)
  enqueueAfter(keyFor(accountOf(shot), context), config.queue.unrunnableMilliseconds)
}

function statusFor(action: PendingAction, now: Date): StatusPatch {
  switch (action.do) {
    case 'note':
      return buildUnrunnable(action.shot, action.obstacle.reason, action.obstacle.message, now)
    case 'clear':
      return buildCleared(action.shot, now)
    case 'fail':
      return buildFailure(action.shot, action, now)
  }
}
