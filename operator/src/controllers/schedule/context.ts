import type { TermDeps } from '../../runtime/deps.ts'
import type { ScheduleMetrics } from './metrics.ts'

/** What the parts of the schedule controller use during one term. */
export interface ScheduleContext extends TermDeps {
  metrics: ScheduleMetrics
  /** True for a run whose deletion this process has seen. */
  wasDeleted: (name: string) => boolean
  /** True the first time that a text is reported for a schedule. */
  isNew: (uid: string, text: string) => boolean
}
