import type { Page } from '../routing/router.ts'
import { ScheduleList } from '../schedules/schedule-list.tsx'
import { SchedulePage } from '../schedules/schedule-page.tsx'
import { lazy } from '../ui/lazy.tsx'

const NewSchedule = lazy(async () => (await import('../schedules/schedule-form.tsx')).NewSchedule)
const EditSchedule = lazy(async () => (await import('../schedules/schedule-form.tsx')).EditSchedule)

const Schedules: Page = ({ session, parts: [id, action], query }) => {
  if (id === undefined) return <ScheduleList session={session} />
  if (id === 'new') return <NewSchedule url={query.get('url') ?? ''} />
  return action === 'edit' ? <EditSchedule key={id} id={id} /> : <SchedulePage key={id} id={id} session={session} />
}

export default Schedules
