import { formatAge, STATUS_TITLES } from '../format/text.ts'
import type { Schedule } from './body.ts'

/** How the last run of a schedule ended, such as `Failed 5 minutes ago: TIMEOUT`. */
export function describeLastRun(
  { active_runs: active, recent_runs: [last] }: Pick<Schedule, 'active_runs' | 'recent_runs'>,
  now: Date,
): string {
  if (active.length > 0) return 'Runs now'
  if (!last) return 'No run yet'
  const { status, scheduled_at, error_code: code } = last
  const ended = `${STATUS_TITLES[code === null ? status : 'failed'] ?? status} ${formatAge(scheduled_at, now)}`
  return code === null ? ended : `${ended}: ${code}`
}

/** The text in place of the picture of a run. It is empty while the record is being read. */
export const withoutPicture = (
  { error_code: code, status }: Pick<Schedule['recent_runs'][number], 'error_code' | 'status'>,
  isDeleted: boolean,
): string => code ?? (status === 'pending' ? 'Waiting' : isDeleted || status === 'deleted' ? 'Deleted' : '')
